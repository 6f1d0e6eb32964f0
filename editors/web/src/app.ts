// The page's entry: creates the parts, connects them and forwards the hub's events.
//
// shell/       page chrome shared by everything: views, keys, notices, settings, labels, DOM helpers
// connection/  access, the WebSocket and reconnecting; knows nothing of the screen
// list/        the model of known reviews, the list that shows them, and permission prompts
// review/      the one open review: fetching it, showing it, following newer revisions
// decision/    what can be decided, the bar for it, and sending it safely
// history/     past decisions and undo
// chat/        conversations with agents, bundled apart as `/chat.js`; the page imports `chat_tab.ts` and `review_cards.ts`
// diff/        the diff itself, bundled apart as `/diff.js`; imported only as types from `diff/view.ts`

import type { HubEvent, HubHelloResult, ReviewOrigin, WindowStatus } from "../../protocol";
import { ChatTab } from "./chat/chat_tab";
import { ReviewCards } from "./chat/review_cards";
import { NewReviewNotice } from "./list/new_review_notice";
import { Banner } from "./shell/banner";
import { Connection } from "./connection/connection";
import { DecisionSender } from "./decision/decision_sender";
import { loadDiff } from "./review/diff_loader";
import { button, element, icon, part } from "./shell/dom";
import { Help } from "./shell/help";
import { History } from "./history/history";
import { bindKeys } from "./shell/keyboard";
import { List } from "./list/list";
import { Notices } from "./shell/notices";
import type { OpenReview } from "./review/open_review";
import { FileNames } from "./shell/file_names";
import { PermissionPrompts } from "./list/permission_prompts";
import { Reviews, wouldBeLost, type Entry } from "./list/reviews";
import { ConnectionLost } from "./connection/socket";
import { ReviewArea } from "./review/review_area";
import { applyTheme, themeButton } from "./shell/theme";
import { visible } from "./shell/visible";
import { Views } from "./shell/views";
import { count } from "./shell/labels";

applyTheme();

const notices = new Notices();
const banner = new Banner();
const reviews = new Reviews();
const fileNames = new FileNames();
const connection = new Connection({
  state: (state, why) => {
    banner.show(state, why);
    stage.changed();
    chat.changed();
    if (state === "connected") {
      void chat.ready();
    }
  },
  ready,
  handleEvent,
  chatUpdated: (update) => chat.update(update),
});
const deciding = new DecisionSender(connection, reviews);
const views = new Views((view) => {
  history.show(view === "history");
  chat.show(view === "chat");
});
const history = new History(connection, fileNames, notices, (origin) => openConversation(origin));
const openConversation = ({ chat: id, item }: ReviewOrigin): void => {
  views.show("chat");
  void chat.openAt(id, item);
};
const stage: ReviewArea = new ReviewArea({ reviews, fileNames, connection, deciding, notices, openConversation }, views);
const cards: ReviewCards = new ReviewCards({
  ...{ reviews, fileNames, connection, deciding, notices },
  release: (entry) => stage.release(entry),
});
const chat: ChatTab = new ChatTab({ connection, notices, cards, prompts: () => questions });
const list = new List(reviews, fileNames, (entry) => stage.open(entry), {
  connection,
  deciding,
  fileNames,
  notices,
  keepDraft: () => stage.keepDraft(),
});
stage.onOpen((id) => {
  list.setCurrent(id);
  const entry = id === null ? undefined : reviews.get(id);
  if (entry !== undefined) {
    cards.release(entry);
  }
});
const questions: PermissionPrompts = new PermissionPrompts(connection, notices, () => newReviews.paintTitle());
const newReviews: NewReviewNotice = new NewReviewNotice(reviews, fileNames, notices, () => questions.waiting, (entry) => stage.open(entry));
const help = new Help();

part("top-tools", HTMLElement).append(
  newReviews.notify,
  themeButton(notices.announce),
  button("help", [icon("help"), element("span", { class: "unseen" }, "Keys and help")], () => help.toggle(), {
    class: "quiet",
    title: "Keys (?)",
    "aria-keyshortcuts": "?",
  }),
);

bindKeys(
  {
    j: () => (views.showsChat ? chat.panel?.move(1) : move(1)),
    k: () => (views.showsChat ? chat.panel?.move(-1) : move(-1)),
    n: () => (views.showsChat ? chat.panel?.moveToPending(1) : seen()?.view?.nextChange()),
    p: () => (views.showsChat ? chat.panel?.moveToPending(-1) : seen()?.view?.previousChange()),
    i: () => views.showsChat && chat.panel?.focus(),
    x: () => seen()?.toggleHunk(),
    a: () => seen()?.accept(),
    r: () => seen()?.bar.focusReason(),
    e: () => seen()?.edit(),
    c: () => seen()?.comment(),
    v: () => seen()?.toggleLayout(),
    "/": () => (views.showsChat ? chat.panel?.find() : seen()?.view?.find()),
    q: () => {
      if (!views.showsChat) {
        views.show("reviews");
        views.showList();
      }
      questions.focus();
    },
    h: () => views.toggle("history"),
    t: () => views.toggle("chat"),
    s: () => help.toggle(),
    "?": () => help.toggle(),
  },
  () => stage.leave(),
);

/** The open review, if it is on screen: keys must not affect something the user cannot see. */
function seen(): OpenReview | null {
  if (views.showsChat) {
    return cards.current();
  }
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

/** The hub is connected, possibly again: request everything. */
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
  fileNames.learn(windows);
  questions.listed(asks);
  const { arrived, missing } = reviews.listed(listed.reviews);
  if (listedOnce) {
    for (const entry of arrived) {
      newReviews.add(entry);
    }
  } else {
    listedOnce = true;
    // Not sooner: it is large, and the list comes first.
    whenIdle(() => void loadDiff().catch(() => {}));
  }
  list.listed();
  void learnEnds(missing.filter((entry) => !entry.sending));
  stage.reconnected();
  learnFolders(windows);
  history.stir();
}

/** Finds out how reviews ended that are no longer pending. */
async function learnEnds(gone: readonly Entry[]): Promise<void> {
  try {
    await deciding.past(gone);
  } catch (error) {
    if (error instanceof ConnectionLost) {
      // They are looked up again after the reconnect.
      return;
    }
    for (const entry of gone) {
      reviews.past(entry, undefined);
    }
    const why = error instanceof Error ? visible(error.message) : "no answer";
    notices.error(`Could not find out how ${count(gone.length, "review")} ended: ${why}`);
  }
}

function handleEvent({ window, what }: HubEvent): void {
  switch (what.kind) {
    case "attached":
    case "closed":
      void learnWindows();
      break;
    case "review": {
      if (what.summary !== undefined && !fileNames.knows(window)) {
        void learnWindows();
      }
      const arrived = reviews.handleEvent(what.review, what.change, what.summary);
      if (arrived !== undefined) {
        newReviews.add(arrived);
      }
      if (what.change.kind === "failed" || what.change.kind === "reopened") {
        const again = what.change.kind === "reopened" ? " It is pending again." : "";
        const name = fileNames.of({ path: what.path, window }).whole;
        notices.error(`${name} could not be carried out: ${visible(what.change.error)}.${again}`);
      }
      if (what.change.kind === "notOnDisk") {
        const name = fileNames.of({ path: what.path, window }).whole;
        const agent = reviews.get(what.review)?.summary.agent;
        const who = agent === undefined ? "its agent" : visible(agent);
        notices.error(`${name} is accepted, but not on disk: ${who} has not written it. Check the agent's terminal.`);
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

function learnFolders(windows: readonly WindowStatus[]): void {
  chat.learn(windows.flatMap(({ folders }) => folders));
}

async function learnWindows(): Promise<void> {
  try {
    const { windows } = await connection.request("hub/windows", {});
    fileNames.learn(windows);
    learnFolders(windows);
    list.paint();
  } catch {
    // The connection was lost: they are requested again after the reconnect.
  }
}

addEventListener("beforeunload", (event) => {
  stage.keepDraft();
  cards.keepDrafts();
  if (reviews.entries.some(wouldBeLost)) {
    event.preventDefault();
  }
});

reviews.onChange((entry) => stage.changed(entry));
connection.start();
