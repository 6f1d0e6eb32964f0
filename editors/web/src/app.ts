// The page's entry: puts the parts together and passes on what the hub tells.

import type { HubEvent, HubHelloResult } from "../../protocol";
import { Arrivals } from "./arrivals";
import { Banner } from "./banner";
import { Connection } from "./connection";
import { Deciding } from "./deciding";
import { loadDiff } from "./diff_loader";
import { button, element, icon, part } from "./dom";
import { Help } from "./help";
import { History } from "./history";
import { listenToKeys } from "./keyboard";
import { List } from "./list";
import { Notices } from "./notices";
import type { Opened } from "./opened";
import { Places } from "./places";
import { Questions } from "./questions";
import { Reviews, wouldBeLost, type Entry } from "./reviews";
import { Lost } from "./socket";
import { Stage } from "./stage";
import { applyTheme, themeButton } from "./theme";
import { visible } from "./visible";
import { Views } from "./views";
import { count } from "./wording";

applyTheme();

const notices = new Notices();
const banner = new Banner();
const reviews = new Reviews();
const places = new Places();
const connection = new Connection({
  state: (state, why) => {
    banner.show(state, why);
    stage.changed();
  },
  ready,
  told,
});
const deciding = new Deciding(connection, reviews);
const views = new Views((view) => history.show(view === "history"));
const history = new History(connection, places, notices);
const stage: Stage = new Stage({ reviews, places, connection, deciding, notices }, views);
const list = new List(reviews, places, (entry) => stage.open(entry), {
  connection,
  deciding,
  places,
  notices,
  keepDraft: () => stage.keepDraft(),
});
stage.onOpen((id) => list.setCurrent(id));
const questions: Questions = new Questions(connection, notices, () => arrivals.paintTitle());
const arrivals: Arrivals = new Arrivals(reviews, places, notices, () => questions.waiting, (entry) => stage.open(entry));
const help = new Help();

part("top-tools", HTMLElement).append(
  arrivals.notify,
  themeButton(notices.announce),
  button("help", [icon("help"), element("span", { class: "unseen" }, "Keys and help")], () => help.toggle(), {
    class: "quiet",
    title: "Keys (?)",
    "aria-keyshortcuts": "?",
  }),
);

listenToKeys(
  {
    j: () => move(1),
    k: () => move(-1),
    n: () => seen()?.view?.nextChange(),
    p: () => seen()?.view?.previousChange(),
    x: () => seen()?.toggleHunk(),
    a: () => seen()?.accept(),
    r: () => seen()?.bar.focusReason(),
    e: () => seen()?.edit(),
    c: () => seen()?.comment(),
    v: () => seen()?.toggleLayout(),
    "/": () => seen()?.view?.find(),
    q: () => {
      views.show("reviews");
      views.showList();
      questions.focus();
    },
    h: () => views.toggleHistory(),
    s: () => help.toggle(),
    "?": () => help.toggle(),
  },
  () => stage.leave(),
);

/** The open review, if it is before the person's eyes: keys do nothing to what she does not see. */
function seen(): Opened | null {
  return views.showsReview() ? stage.opened : null;
}

function move(by: 1 | -1): void {
  const { entries } = reviews;
  const place = entries.findIndex((entry) => entry.id === stage.opened?.entry.id);
  const next = place === -1 ? entries[by === 1 ? 0 : entries.length - 1] : entries[place + by];
  if (next !== undefined) {
    views.show("reviews");
    stage.open(next);
    list.focusCurrent();
  }
}

const whenIdle = window.requestIdleCallback ?? ((idle: () => void) => setTimeout(idle, 500));
let version: string | null = null;
let listedOnce = false;

/** The hub is there, perhaps again: everything is asked for. */
async function ready(hello: HubHelloResult): Promise<void> {
  if (version !== null && version !== hello.version) {
    banner.offerReload();
  }
  version = hello.version;
  const [{ windows }, listed, { asks }] = await Promise.all([
    connection.request("hub/windows", {}),
    connection.request("reviews/list", { all: true }),
    connection.request("asks/list", {}),
  ]);
  places.learn(windows);
  questions.listed(asks);
  const { arrived, missing } = reviews.listed(listed.reviews);
  if (listedOnce) {
    for (const entry of arrived) {
      arrivals.came(entry);
    }
  } else {
    listedOnce = true;
    // Not sooner: it is large, and the list is what she waits for.
    whenIdle(() => void loadDiff().catch(() => {}));
  }
  list.listed();
  void learnEnds(missing.filter((entry) => !entry.sending));
  stage.reconnected();
  history.stir();
}

/** How those ended that wait no more. */
async function learnEnds(gone: readonly Entry[]): Promise<void> {
  try {
    await deciding.past(gone);
  } catch (error) {
    if (error instanceof Lost) {
      // They are missed again when the hub is back.
      return;
    }
    for (const entry of gone) {
      reviews.past(entry, undefined);
    }
    const why = error instanceof Error ? visible(error.message) : "no answer";
    notices.fail(`How ${count(gone.length, "review")} ended cannot be told: ${why}`);
  }
}

function told({ window, what }: HubEvent): void {
  switch (what.kind) {
    case "attached":
    case "closed":
      void learnWindows();
      break;
    case "review": {
      if (what.summary !== undefined && !places.knows(window)) {
        void learnWindows();
      }
      const arrived = reviews.told(what.review, what.change, what.summary);
      if (arrived !== undefined) {
        arrivals.came(arrived);
      }
      if (what.change.kind === "failed" || what.change.kind === "reopened") {
        const again = what.change.kind === "reopened" ? " It waits for you again." : "";
        const name = places.of({ path: what.path, window }).whole;
        notices.fail(`${name} could not be carried out: ${visible(what.change.error)}.${again}`);
      }
      if (what.change.kind === "notOnDisk") {
        const name = places.of({ path: what.path, window }).whole;
        const agent = reviews.get(what.review)?.summary.agent;
        const who = agent === undefined ? "its agent" : visible(agent);
        notices.fail(`${name} is accepted, but not on disk: ${who} has not written it. Look at the agent's terminal.`);
      }
      history.stir();
      break;
    }
    case "undone":
      history.stir();
      break;
    case "asked":
      questions.came(what.asked);
      break;
    case "askOver":
      questions.over(what);
      break;
    default:
      break;
  }
}

async function learnWindows(): Promise<void> {
  try {
    const { windows } = await connection.request("hub/windows", {});
    places.learn(windows);
    list.paint();
  } catch {
    // The connection fell: they are asked for again when it is back.
  }
}

addEventListener("beforeunload", (event) => {
  stage.keepDraft();
  if (reviews.entries.some(wouldBeLost)) {
    event.preventDefault();
  }
});

reviews.onChange((entry) => stage.changed(entry));
connection.start();
