// The items of a conversation on the screen. Of a long one only a window of some hundred items has elements; it moves as
// the user scrolls. Follows the end while the user is there.

import { button, element, icon, setText } from "../shell/dom";
import { oncePerFrame } from "../shell/throttle";
import { ItemView, type ItemMeans } from "./item_view";
import { endOf, itemAt, type Conversation, type Touched } from "./model";

export interface TranscriptMeans extends ItemMeans {
  /** Items before the first one that is known may soon be seen. */
  older(): void;
}

const CHUNK = 40;
/** More elements than this are removed at the far side. */
const MOST = 200;
/** Closer to the end than this counts as being there. */
const AT_END_PX = 48;
/** The next items are added before the user comes to the edge. */
const EDGE_PX = 600;
const FRAME_MS = 16;

export class Transcript {
  readonly root: HTMLElement;
  readonly #means: TranscriptMeans;
  readonly #list = element("ol", { class: "items" });
  readonly scroller: HTMLElement;
  readonly #toEnd: HTMLButtonElement;
  readonly #views = new Map<number, ItemView>();
  readonly #dirty = new Set<number>();
  readonly #paintSoon = oncePerFrame(() => this.#paintDirty());
  readonly #resized: ResizeObserver;
  #conversation: Conversation;
  #from = 0;
  #to = 0;
  #follows = true;
  #isMoving = false;
  #paintedAt = 0;
  /** Where the end was when it was shown last. */
  #stuckAt = 0;

  constructor(conversation: Conversation, means: TranscriptMeans) {
    this.#conversation = conversation;
    this.#means = means;
    this.scroller = element(
      "div",
      { class: "transcript", tabindex: "0", role: "region", "aria-label": "Messages of the conversation" },
      this.#list,
    );
    this.#toEnd = button("to-end", [icon("down"), element("span", {}, "Latest")], () => this.showEnd(), { class: "small to-end", hidden: true });
    this.root = element("div", { class: "transcript-frame" }, this.scroller, this.#toEnd);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#resized = new ResizeObserver(() => this.#stick());
    this.#resized.observe(this.scroller);
    this.#resized.observe(this.#list);
    this.showEnd();
  }

  close(): void {
    this.#resized.disconnect();
    this.#list.replaceChildren();
    this.#views.clear();
  }

  /** The conversation changed. */
  update(conversation: Conversation, touched: Touched): void {
    const before = this.#conversation;
    this.#conversation = conversation;
    if (touched.kind === "text" || touched.kind === "item") {
      this.#dirty.add(touched.index);
      if (touched.kind === "item" && touched.isNew) {
        // The item before it has ended.
        this.#dirty.add(touched.index - 1);
      }
    } else if (before.summary.state.kind !== conversation.summary.state.kind) {
      this.#dirty.add(endOf(conversation) - 1);
    }
    // At once, so that the work is done before the next frame; what follows sooner than a frame is painted together.
    if (performance.now() - this.#paintedAt >= FRAME_MS) {
      this.#paintDirty();
    } else {
      this.#paintSoon();
    }
  }

  /** All of it may be different now. */
  replace(conversation: Conversation): void {
    this.#conversation = conversation;
    const length = endOf(conversation);
    if (this.#follows || this.#to > length || this.#from < conversation.first) {
      this.showEnd();
    } else {
      this.#window(this.#from, Math.min(this.#to, length));
      this.#views.forEach((_, index) => this.#paint(index));
    }
  }

  /** Older items are known now. What is on the screen stays. */
  grewUpwards(conversation: Conversation): void {
    this.#conversation = conversation;
    this.#scrolled();
  }

  showEnd(): void {
    const length = endOf(this.#conversation);
    this.#follows = true;
    this.#window(Math.max(this.#conversation.first, length - CHUNK), length);
    this.#views.forEach((_, index) => this.#paint(index));
    this.#stick();
  }

  /** Brings an item to the middle of the screen. */
  reveal(index: number): ItemView | undefined {
    const { first } = this.#conversation;
    if (index < this.#from || index >= this.#to) {
      this.#follows = false;
      this.#window(Math.max(first, index - CHUNK), Math.min(endOf(this.#conversation), index + CHUNK));
    }
    const view = this.#views.get(index);
    if (view !== undefined) {
      this.#follows = false;
      view.root.scrollIntoView({ block: "center" });
    }
    return view;
  }

  /** Elements of the page that may be looked for, from top to bottom. */
  all(selector: string): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>(selector)];
  }

  focus(): void {
    this.scroller.focus({ preventScroll: true });
  }

  #paintDirty(): void {
    this.#paintedAt = performance.now();
    const length = endOf(this.#conversation);
    if (this.#follows && length > this.#to) {
      const from = length - this.#from > MOST ? length - CHUNK : this.#from;
      this.#window(from, length);
    }
    for (const index of this.#dirty) {
      this.#paint(index);
    }
    this.#dirty.clear();
    this.#stick();
  }

  #paint(index: number): void {
    const item = itemAt(this.#conversation, index);
    if (item !== undefined) {
      const isLast = index === endOf(this.#conversation) - 1;
      this.#views.get(index)?.paint(item, isLast && this.#conversation.summary.state.kind === "working");
    }
  }

  /** Gives elements to exactly these items. What stays on the screen does not move. */
  #window(from: number, to: number): void {
    const anchor = this.#anchor(from, to);
    for (const [index, view] of this.#views) {
      if (index < from || index >= to) {
        view.root.remove();
        this.#views.delete(index);
      }
    }
    const before = document.createDocumentFragment();
    const after = document.createDocumentFragment();
    const first = this.#views.size === 0 ? to : Math.min(...this.#views.keys());
    for (let index = from; index < to; index += 1) {
      if (!this.#views.has(index)) {
        const view = new ItemView(index, this.#means);
        this.#views.set(index, view);
        this.#paint(index);
        (index < first ? before : after).append(view.root);
      }
    }
    this.#list.prepend(before);
    this.#list.append(after);
    this.#from = from;
    this.#to = to;
    this.#list.setAttribute("data-from", String(from));
    if (anchor !== null) {
      this.scroller.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
    }
  }

  /** An element that stays, and where it is. */
  #anchor(from: number, to: number): { element: HTMLElement; top: number } | null {
    const top = this.scroller.getBoundingClientRect().top;
    for (let index = Math.max(from, this.#from); index < Math.min(to, this.#to); index += 1) {
      const root = this.#views.get(index)?.root;
      const place = root?.getBoundingClientRect();
      if (root !== undefined && place !== undefined && place.bottom > top) {
        return { element: root, top: place.top };
      }
    }
    return null;
  }

  #scrolled(): void {
    if (this.#isMoving) {
      return;
    }
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const { first } = this.#conversation;
    const length = endOf(this.#conversation);
    const below = scrollHeight - clientHeight - scrollTop;
    this.#isMoving = true;
    if (scrollTop < EDGE_PX && this.#from > first) {
      const from = Math.max(first, this.#from - CHUNK);
      this.#window(from, this.#to - from > MOST ? from + MOST : this.#to);
    } else if (below < EDGE_PX && this.#to < length) {
      const to = Math.min(length, this.#to + CHUNK);
      this.#window(to - this.#from > MOST ? to - MOST : this.#from, to);
    }
    this.#isMoving = false;
    if (first > 0 && this.#from - first < CHUNK) {
      this.#means.older();
    }
    // Only the user ends the following, by scrolling up: what is not painted yet, or grows by itself, does not.
    const isAsLeft = this.#follows && scrollTop >= this.#stuckAt - 1;
    this.#follows = isAsLeft || (below < AT_END_PX && (this.#follows || this.#to === length));
    this.#paintToEnd();
  }

  #stick(): void {
    if (this.#follows) {
      this.scroller.scrollTop = this.scroller.scrollHeight;
      this.#stuckAt = this.scroller.scrollTop;
    }
    this.#paintToEnd();
  }

  #paintToEnd(): void {
    this.#toEnd.hidden = this.#follows;
    const isNew = endOf(this.#conversation) > this.#to;
    const label = this.#toEnd.querySelector("span");
    if (label !== null) {
      setText(label, isNew ? "Latest messages" : "Latest");
    }
  }
}
