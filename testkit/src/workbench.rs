//! What a person does and sees in a window of VS Code. Selectors of its workbench are here and nowhere else, and
//! fit every version that is tested.

use std::path::Path;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Browser, Page, VsCode, World, place};

/// A picture of this size fits into a page of the docs.
const SCREEN: (u32, u32) = (1280, 800);

/// A decision that comes sooner than this after what it decides on changed is taken for one meant for something else.
pub const LOOK: Duration = Duration::from_millis(500);

/// A window loads megabytes of scripts and starts a dozen extensions; a machine with other work takes its time.
const START: Duration = Duration::from_secs(40);

const QUICK_INPUT: &str = ".quick-input-widget:not([style*='display: none']) input";
const QUICK_ROWS: &str = ".quick-input-widget .quick-input-list .monaco-list-row";
const NOTIFICATION: &str = ".notifications-toasts .notification-list-item";
const TAB: &str = ".tabs-container .tab";
const ROW: &str = ".tree-explorer-viewlet-tree-view .monaco-list-row";

pub struct Workbench {
    pub page: Page,
}

/// A tab as it is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    pub label: String,
    pub active: bool,
    pub dirty: bool,
}

impl Tab {
    pub fn is(&self, label: &str) -> bool {
        let rest = self.label.strip_prefix(label);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(',') || label.ends_with('←'))
    }
}

impl Workbench {
    /// A window on the world's workspace, attached to a hub.
    #[track_caller]
    pub fn open(world: &World, vscode: &VsCode, browser: &Browser) -> (Workbench, u16) {
        let workbench = Workbench::at(&vscode.window(&world.workspace()), browser);
        let port = workbench.attached(world);
        (workbench, port)
    }

    /// A window at an address of VS Code, in a profile of its own.
    #[track_caller]
    pub fn at(url: &str, browser: &Browser) -> Workbench {
        let screen = json!({ "width": SCREEN.0, "height": SCREEN.1 });
        let page = browser.context(&json!({ "viewport": screen, "colorScheme": "light" })).page();
        page.goto(url).unwrap();
        let workbench = Workbench { page };
        workbench.is_there();
        workbench
    }

    #[track_caller]
    fn is_there(&self) {
        self.begins("the window is there", |page| {
            page.shows(".monaco-workbench .part.statusbar .statusbar-item").then_some(())
        });
    }

    /// Waits as long as a start may take.
    #[track_caller]
    fn begins<T>(&self, what: &str, mut look: impl FnMut(&Page) -> Option<T>) -> T {
        let until = Instant::now() + START;
        while Instant::now() < until {
            if let Some(found) = look(&self.page) {
                return found;
            }
            sleep(Duration::from_millis(100));
        }
        self.page.waits(what, look)
    }

    /// Waits until the hub knows this window; gives its port for agents.
    #[track_caller]
    pub fn attached(&self, world: &World) -> u16 {
        self.begins("the window is attached", |_| {
            let status = world.run(&["status", "--json"]);
            let status: Value = serde_json::from_str(&status.stdout).ok()?;
            let windows = status["windows"].as_array()?;
            let attached = windows.iter().find(|window| window["attached"] == Value::Bool(true))?;
            u16::try_from(attached["port"].as_u64()?).ok()
        })
    }

    /// The window is loaded again, as by *Developer: Reload Window*.
    #[track_caller]
    pub fn reload(&self) {
        self.page.reload();
        self.is_there();
    }

    // Files and what is typed into them

    /// By name, as with Ctrl+P.
    #[track_caller]
    pub fn open_file(&self, name: &str) {
        self.page.press("Control+P");
        self.quick_pick(name, name);
        self.sees_tab(name);
        self.page.sees(&format!("{} .monaco-editor.focused", group_of(name)));
    }

    /// Types where the focus is.
    #[track_caller]
    pub fn types(&self, text: &str) {
        self.page.types(text);
    }

    #[track_caller]
    pub fn press(&self, key: &str) {
        self.page.press(key);
    }

    /// The cursor goes to the beginning of a line, counted from one, in the editor that has the focus.
    #[track_caller]
    pub fn go_to_line(&self, line: usize) {
        self.page.press("Control+G");
        self.page.sees(QUICK_INPUT);
        self.page.types(&line.to_string());
        self.page.press("Enter");
        self.page.waits("the line is chosen", |page| (!page.shows(QUICK_INPUT)).then_some(()));
    }

    /// What is seen of the text in front of that tab; of a diff, the side that can be edited.
    #[track_caller]
    pub fn shown_text(&self, tab: &str) -> String {
        let script = format!(
            "(() => {{ \
               const group = document.querySelector({}); \
               const side = group?.querySelector('.editor.modified') ?? group?.querySelector('.monaco-editor'); \
               return [...(side?.querySelectorAll('.view-line') ?? [])] \
                 .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)) \
                 .map((line) => line.textContent.replaceAll('\\u00a0', ' ')).join('\\n'); \
             }})()",
            json!(group_of(tab))
        );
        self.page.evaluate(&script).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the editor in front of that tab shows this.
    #[track_caller]
    pub fn shows(&self, tab: &str, part: &str) {
        self.page
            .waits(&format!("{tab} shows {part:?}"), |_| self.shown_text(tab).contains(part).then_some(()));
    }

    // Tabs

    #[track_caller]
    pub fn tabs(&self) -> Vec<Tab> {
        let script = format!(
            "[...document.querySelectorAll({})].map((tab) => [tab.ariaLabel ?? '', \
             tab.classList.contains('active'), tab.classList.contains('dirty')])",
            json!(TAB)
        );
        let tabs = self.page.evaluate(&script);
        let tab = |tab: &Value| Tab {
            label: tab[0].as_str().unwrap().to_owned(),
            active: tab[1] == Value::Bool(true),
            dirty: tab[2] == Value::Bool(true),
        };
        tabs.as_array().unwrap().iter().map(tab).collect()
    }

    #[track_caller]
    pub fn sees_tab(&self, label: &str) -> Tab {
        self.page.waits(&format!("a tab {label}"), |_| self.tabs().into_iter().find(|tab| tab.is(label)))
    }

    #[track_caller]
    pub fn sees_no_tab(&self, label: &str) {
        self.page.waits(&format!("no tab {label}"), |_| {
            (!self.tabs().iter().any(|tab| tab.is(label))).then_some(())
        });
    }

    /// Brings a tab to the front and looks at what it shows.
    #[track_caller]
    pub fn look_at(&self, label: &str) {
        self.sees_tab(label);
        self.page.click(&tab(label));
        self.page.sees(&format!("{} .monaco-editor.focused", group_of(label)));
        sleep(LOOK);
    }

    /// By the X of the tab.
    #[track_caller]
    pub fn close_tab(&self, label: &str) {
        self.page.hover(&tab(label));
        self.page.click(&format!("{} .tab-actions a.action-label[aria-label^='Close']", tab(label)));
    }

    /// A button above the editor of the tab, which is in front.
    #[track_caller]
    pub fn click_title(&self, label: &str, action: &str) {
        self.page
            .click(&format!("{} .editor-actions a.action-label[aria-label^='{action}']", group_of(label)));
    }

    /// Says something about the line of the cursor.
    #[track_caller]
    pub fn comment(&self, text: &str) {
        self.run("Comments: Add Comment on Current Selection");
        self.page.sees(".review-widget .comment-form .monaco-editor");
        self.page.waits("the cursor is in the comment", |page| {
            (page.evaluate("document.activeElement?.closest('.review-widget') !== null") == Value::Bool(true))
                .then_some(())
        });
        self.page.types(text);
        self.page.click(".review-widget .form-actions .monaco-button:has-text('Add Comment')");
        self.page.sees(&format!(".review-widget .review-comment:has-text('{text}')"));
    }

    // Code lenses

    /// What stands above the lines of that tab, from the top.
    #[track_caller]
    pub fn lenses(&self, label: &str) -> Vec<String> {
        let parts = format!("{} .codelens-decoration > *", group_of(label));
        self.page.texts(&parts)
    }

    #[track_caller]
    pub fn sees_lens(&self, label: &str, text: &str) {
        self.page.waits(&format!("a lens {text}"), |_| {
            self.lenses(label).iter().any(|lens| lens == text).then_some(())
        });
    }

    /// The one that is the `nth` of this text, from the top and from one.
    #[track_caller]
    pub fn click_lens(&self, label: &str, text: &str, nth: usize) {
        let group = group_of(label);
        self.page.click(&format!(":nth-match({group} .codelens-decoration a:has-text('{text}'), {nth})"));
    }

    // The Reviews view

    #[track_caller]
    pub fn open_reviews(&self) {
        if !self.page.shows(".composite.viewlet[id*='linkspan']") {
            self.page.click(".activitybar .action-item:has(a.action-label[aria-label*='Linkspan'])");
        }
        self.page.sees(".composite.viewlet[id*='linkspan']");
    }

    /// The number on the icon of the view; nothing where there is none.
    #[track_caller]
    pub fn badge(&self) -> String {
        let badge = ".activitybar .action-item:has(a.action-label[aria-label*='Linkspan']) .badge-content";
        self.page.texts(badge).join("")
    }

    /// The rows of the view from the top, as they read.
    #[track_caller]
    pub fn rows(&self) -> Vec<String> {
        self.page.texts(&format!("{ROW} .monaco-icon-label"))
    }

    #[track_caller]
    pub fn sees_row(&self, part: &str) {
        self.page.waits(&format!("a row {part:?}"), |_| {
            self.rows().iter().any(|row| row.contains(part)).then_some(())
        });
    }

    #[track_caller]
    pub fn sees_no_row(&self, part: &str) {
        self.page.waits(&format!("no row {part:?}"), |_| {
            (!self.rows().iter().any(|row| row.contains(part))).then_some(())
        });
    }

    #[track_caller]
    pub fn click_row(&self, part: &str) {
        self.page.click(&row(part));
    }

    /// Opens what is in a row, where it is closed.
    #[track_caller]
    pub fn expand_row(&self, part: &str) {
        self.page.sees(&row(part));
        if self.page.shows(&format!("{ROW}[aria-expanded='false']")) {
            let twistie = format!("{ROW}[aria-expanded='false']:has-text('{part}') .monaco-tl-twistie");
            self.page.click(&twistie);
        }
    }

    /// One of the buttons that a row has under the mouse.
    #[track_caller]
    pub fn click_in_row(&self, part: &str, action: &str) {
        self.page.hover(&row(part));
        self.page.click(&format!("{} .actions a.action-label[aria-label^='{action}']", row(part)));
    }

    /// One of the buttons above the view.
    #[track_caller]
    pub fn click_in_view(&self, action: &str) {
        self.page.hover(".composite.viewlet[id*='linkspan']");
        self.page.click(&format!(
            ".part.sidebar .title-actions a.action-label[aria-label^='{action}'], \
                                  .part.sidebar .pane-header .actions a.action-label[aria-label^='{action}']"
        ));
    }

    // Commands, messages, the status bar

    /// By its title, as with F1.
    #[track_caller]
    pub fn run(&self, title: &str) {
        let row = format!("{QUICK_ROWS}:has-text('{title}')");
        // A command is there once what it needs is loaded, and is not added to a list that is open.
        self.page.waits(&format!("the command {title}"), |page| {
            page.press("F1");
            page.sees(QUICK_INPUT);
            page.types(title);
            let is_there = (0..20).any(|_| {
                sleep(Duration::from_millis(50));
                page.shows(&row)
            });
            if is_there {
                page.click(&row);
            } else {
                page.press("Escape");
            }
            is_there.then_some(())
        });
    }

    /// Answers what stands open above the window: types, and chooses the row that has `choice` in it.
    #[track_caller]
    pub fn quick_pick(&self, typed: &str, choice: &str) {
        self.page.sees(QUICK_INPUT);
        self.page.types(typed);
        self.page.click(&format!("{QUICK_ROWS}:has-text('{choice}')"));
    }

    /// Answers a question that takes a text.
    #[track_caller]
    pub fn answer(&self, text: &str) {
        self.page.sees(QUICK_INPUT);
        self.page.types(text);
        self.page.press("Enter");
    }

    #[track_caller]
    pub fn notifications(&self) -> Vec<String> {
        self.page.texts(&format!("{NOTIFICATION} .notification-list-item-message"))
    }

    /// Waits for a message with this in it; gives the whole.
    #[track_caller]
    pub fn is_told(&self, part: &str) -> String {
        self.page.waits(&format!("a notification {part:?}"), |_| {
            self.notifications().into_iter().find(|message| message.contains(part))
        })
    }

    /// A button of the message that has `part` in it.
    #[track_caller]
    pub fn click_notification(&self, part: &str, button: &str) {
        self.page.click(&format!("{NOTIFICATION}:has-text('{part}') a.monaco-button:has-text('{button}')"));
    }

    /// By its X.
    #[track_caller]
    pub fn close_notification(&self, part: &str) {
        let message = format!("{NOTIFICATION}:has-text('{part}')");
        self.page.hover(&message);
        self.page.click(&format!("{message} .codicon-notifications-clear"));
        self.page.waits("the message is gone", |page| (!page.shows(&message)).then_some(()));
    }

    /// Settings are on the screen, as a tab or above everything; they are closed again.
    #[track_caller]
    pub fn sees_settings(&self) {
        self.page.sees(".settings-editor");
        self.page.press("Escape");
    }

    #[track_caller]
    pub fn status_bar(&self) -> Vec<String> {
        self.page.texts(".part.statusbar .statusbar-item")
    }

    #[track_caller]
    pub fn sees_status(&self, part: &str) {
        self.page.waits(&format!("{part:?} in the status bar"), |_| {
            self.status_bar().iter().any(|item| item.contains(part)).then_some(())
        });
    }

    // The terminal

    /// A new one, with the cursor in it.
    #[track_caller]
    pub fn open_terminal(&self) {
        self.run("Terminal: Create New Terminal");
        self.page.sees(".terminal-wrapper.active .xterm-rows, .terminal-wrapper.active canvas");
        self.page.waits("the cursor is in the terminal", |page| {
            (page.evaluate("document.activeElement?.classList.contains('xterm-helper-textarea') ?? false")
                == Value::Bool(true))
            .then_some(())
        });
    }

    /// Runs a command line in the terminal in front and gives what it printed.
    #[track_caller]
    pub fn in_terminal(&self, world: &World, line: &str) -> String {
        let (out, done) = (world.root().join("t/said"), world.root().join("t/ran"));
        let _ = std::fs::remove_file(&done);
        self.page.types(&format!("({line}) > {} 2>&1; touch {}\n", out.display(), done.display()));
        self.page.waits(&format!("{line:?} has run"), |_| done.exists().then_some(()));
        std::fs::read_to_string(&out).unwrap()
    }

    #[track_caller]
    pub fn picture(&self, path: &Path) {
        self.page.picture(path);
    }
}

impl Drop for Workbench {
    /// A test that fails leaves a picture of where it did.
    fn drop(&mut self) {
        if thread::panicking() {
            let test = thread::current().name().unwrap_or("test").replace("::", "-");
            let path = place::scratch().join(format!("{test}.png"));
            if self.page.try_picture(&path).is_ok() {
                eprintln!("--- as it was seen then: {}", path.display());
            }
        }
    }
}

fn tab(label: &str) -> String {
    format!("{TAB}{}", named(label))
}

/// The part of the window that has that tab in front.
fn group_of(label: &str) -> String {
    format!(".editor-group-container:has(.tab.active{})", named(label))
}

/// A file's tab is called like the file, a review's begins like one and goes on behind the arrow. Behind a comma
/// stands what VS Code adds for those who cannot see.
fn named(label: &str) -> String {
    if label.ends_with('←') {
        format!("[aria-label^='{label}']")
    } else {
        format!(":is([aria-label='{label}'], [aria-label^='{label},'])")
    }
}

fn row(part: &str) -> String {
    format!("{ROW}:has-text('{part}')")
}
