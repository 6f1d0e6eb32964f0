// How a new review makes itself known: the title, a spoken word, and a notification if the person asked for it. Never
// by taking the focus or opening itself.

import { button, element, icon, say } from "./dom";
import type { Notices } from "./notices";
import { gathered } from "./pace";
import type { Places } from "./places";
import { isWaiting, type Entry, type Reviews } from "./reviews";
import { remember, remembered } from "./settings";
import { visible } from "./visible";

const GATHERED_MS = 500;

/** As many as a notification has room for. */
const NAMED = 3;

export class Arrivals {
  readonly notify: HTMLButtonElement;
  /** A review came that was not there before. */
  readonly came = gathered<Entry>(GATHERED_MS, (entries) => this.#cameAll(entries));
  readonly #label = element("span");
  readonly #reviews: Reviews;
  readonly #places: Places;
  readonly #notices: Notices;
  readonly #questions: () => number;
  readonly #open: (entry: Entry) => void;

  constructor(
    reviews: Reviews,
    places: Places,
    notices: Notices,
    questions: () => number,
    open: (entry: Entry) => void,
  ) {
    this.#reviews = reviews;
    this.#places = places;
    this.#notices = notices;
    this.#questions = questions;
    this.#open = open;
    this.notify = button("notify", [icon("bell"), this.#label], () => void this.#toggle(), { class: "quiet" });
    this.notify.hidden = !("Notification" in window);
    reviews.onChange(() => this.paintTitle());
    this.#paint();
  }

  /** All that came within a moment: many words at once are heard by nobody. */
  #cameAll(entries: readonly Entry[]): void {
    const waiting = entries.filter(isWaiting);
    const [first] = waiting;
    if (first === undefined) {
      return;
    }
    const named = waiting.map(({ summary }) => `${this.#places.of(summary).whole} from ${visible(summary.agent)}`);
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
      // Some browsers give the permission and let no page use it.
      remember("notify", null);
      this.#notices.fail("This browser does not show notifications of a page, so there are none from now on.");
      this.#paint();
    }
  }

  #wanted(): boolean {
    return "Notification" in window && Notification.permission === "granted" && remembered("notify") === "on";
  }

  async #toggle(): Promise<void> {
    if (this.#wanted()) {
      remember("notify", null);
      this.#notices.tell("Notifications are off.");
    } else if ((await Notification.requestPermission()) === "granted") {
      remember("notify", "on");
      this.#notices.tell("You are notified of new reviews while this page is in the background.");
    } else {
      this.#notices.fail("The browser does not allow notifications from this page. Its settings for this site can change that.");
    }
    this.#paint();
  }

  #paint(): void {
    const wanted = this.#wanted();
    say(this.#label, wanted ? "Notifying" : "Notify me");
    this.notify.setAttribute("aria-pressed", String(wanted));
    this.notify.title = wanted ? "New reviews are notified; press to stop" : "Be notified of new reviews";
  }

  paintTitle(): void {
    const waiting = this.#reviews.waiting().length + this.#questions();
    const title = waiting === 0 ? "Linkspan" : `(${waiting}) Linkspan`;
    if (document.title !== title) {
      document.title = title;
    }
  }
}
