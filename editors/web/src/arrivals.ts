// How a new review makes itself known: the title, a spoken word, and a notification if the person asked for it. Never
// by taking the focus or opening itself.

import { button, element, icon, say } from "./dom";
import type { Notices } from "./notices";
import type { Places } from "./places";
import type { Entry, Reviews } from "./reviews";
import { remember, remembered } from "./settings";
import { visible } from "./visible";

export class Arrivals {
  readonly notify: HTMLButtonElement;
  readonly #label = element("span");
  readonly #reviews: Reviews;
  readonly #places: Places;
  readonly #notices: Notices;
  readonly #open: (entry: Entry) => void;

  constructor(reviews: Reviews, places: Places, notices: Notices, open: (entry: Entry) => void) {
    this.#reviews = reviews;
    this.#places = places;
    this.#notices = notices;
    this.#open = open;
    this.notify = button("notify", [icon("bell"), this.#label], () => void this.#toggle(), { class: "quiet" });
    this.notify.hidden = !("Notification" in window);
    reviews.onChange(() => this.#paintTitle());
    this.#paint();
  }

  came(entry: Entry): void {
    const text = `${this.#places.of(entry.summary).whole} from ${visible(entry.summary.agent)}`;
    this.#notices.announce(`New review: ${text}`);
    if (this.#wanted() && (document.hidden || !document.hasFocus())) {
      const shown = new Notification("New review", { body: text, tag: entry.id, icon: "/icon.svg" });
      shown.onclick = () => {
        window.focus();
        shown.close();
        this.#open(entry);
      };
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

  #paintTitle(): void {
    const waiting = this.#reviews.waiting().length;
    const title = waiting === 0 ? "Linkspan" : `(${waiting}) Linkspan`;
    if (document.title !== title) {
      document.title = title;
    }
  }
}
