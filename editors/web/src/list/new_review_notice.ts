// Announces new reviews: in the title, to screen readers, and by a notification if the user turned that on. Never takes
// the focus and never opens a review.

import { button, element, icon, setText } from "../shell/dom";
import type { Notices } from "../shell/notices";
import { batch } from "../shell/throttle";
import type { FileNames } from "../shell/file_names";
import { isWaiting, type Entry, type Reviews } from "./reviews";
import { remember, remembered } from "../shell/settings";
import { visible } from "../shell/visible";

const GATHERED_MS = 500;

/** How many reviews a notification names. */
const NAMED = 3;

export class NewReviewNotice {
  readonly notify: HTMLButtonElement;
  /** A new review arrived. */
  readonly add = batch<Entry>(GATHERED_MS, (entries) => this.#addAll(entries));
  readonly #label = element("span");
  readonly #reviews: Reviews;
  readonly #fileNames: FileNames;
  readonly #notices: Notices;
  readonly #questions: () => number;
  readonly #open: (entry: Entry) => void;

  constructor(
    reviews: Reviews,
    fileNames: FileNames,
    notices: Notices,
    questions: () => number,
    open: (entry: Entry) => void,
  ) {
    this.#reviews = reviews;
    this.#fileNames = fileNames;
    this.#notices = notices;
    this.#questions = questions;
    this.#open = open;
    this.notify = button("notify", [icon("bell"), this.#label], () => void this.#toggle(), { class: "quiet" });
    this.notify.hidden = !("Notification" in window);
    reviews.onChange(() => this.paintTitle());
    this.#paint();
  }

  /** Announces all reviews of a short period together: no one can follow many announcements at once. */
  #addAll(entries: readonly Entry[]): void {
    const waiting = entries.filter(isWaiting);
    const [first] = waiting;
    if (first === undefined) {
      return;
    }
    const named = waiting.map(({ summary }) => `${this.#fileNames.of(summary).whole} from ${visible(summary.agent)}`);
    const isOne = waiting.length === 1;
    const title = isOne ? "New review" : `${waiting.length} new reviews`;
    const more = waiting.length > NAMED ? `\nand ${waiting.length - NAMED} more` : "";
    this.#notices.announce(isOne ? `${title}: ${named.join()}` : title);
    if (this.#wanted() && (document.hidden || !document.hasFocus())) {
      this.#notifyOf(title, named.slice(0, NAMED).join("\n") + more, first);
    }
  }

  #notifyOf(title: string, body: string, first: Entry): void {
    try {
      const shown = new Notification(title, { body, tag: "linkspan", icon: "/icon.svg" });
      shown.onclick = () => {
        window.focus();
        shown.close();
        this.#open(first);
      };
    } catch {
      // Some browsers grant the permission and still do not let a page use it.
      remember("notify", null);
      this.#notices.error("This browser does not show notifications from pages. They are turned off.");
      this.#paint();
    }
  }

  #wanted(): boolean {
    return "Notification" in window && Notification.permission === "granted" && remembered("notify") === "on";
  }

  async #toggle(): Promise<void> {
    if (this.#wanted()) {
      remember("notify", null);
      this.#notices.show("Notifications are off.");
    } else if ((await Notification.requestPermission()) === "granted") {
      remember("notify", "on");
      this.#notices.show("Notifications are on: new reviews are announced while this page is in the background.");
    } else {
      this.#notices.error("The browser blocks notifications from this page. You can allow them in its settings for this site.");
    }
    this.#paint();
  }

  #paint(): void {
    const wanted = this.#wanted();
    setText(this.#label, wanted ? "Notifying" : "Notify me");
    this.notify.setAttribute("aria-pressed", String(wanted));
    this.notify.title = wanted ? "Notifications for new reviews are on" : "Notify me of new reviews";
  }

  paintTitle(): void {
    const waiting = this.#reviews.waiting().length + this.#questions();
    const title = waiting === 0 ? "Linkspan" : `(${waiting}) Linkspan`;
    if (document.title !== title) {
      document.title = title;
    }
  }
}
