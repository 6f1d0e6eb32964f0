//! What the user does and sees in a window of VS Code. The selectors for its workbench are here and nowhere else, and match
//! every version that is tested.

use std::path::Path;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::browser::Context;
use super::{Browser, Page, World, paths};

/// A picture of this size fits on a page of the docs.
const SCREEN: (u32, u32) = (1280, 800);

/// The extension ignores a decision that comes sooner than this after the review has changed: it was probably meant for
/// something else.
pub const LOOK: Duration = Duration::from_millis(500);

/// A window loads megabytes of scripts and starts a dozen extensions, which takes long on a busy machine.
const START: Duration = Duration::from_secs(40);

/// How long the search of *Go to File* may take before it is made again.
const FILE_SEARCH: Duration = Duration::from_secs(5);

const QUICK_INPUT: &str = ".quick-input-widget:not([style*='display: none']) input";
const QUICK_ROWS: &str = ".quick-input-widget .quick-input-list .monaco-list-row";
const NOTIFICATION: &str = ".notifications-toasts .notification-list-item";
const TAB: &str = ".tabs-container .tab";
const ROW: &str = ".tree-explorer-viewlet-tree-view .monaco-list-row";

pub struct Workbench {
    pub page: Page,
}

/// A tab as the user sees it.
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

/// A profile for windows: no cookie, no storage and no cache of another.
pub fn profile(browser: &Browser) -> Context {
    let screen = json!({ "width": SCREEN.0, "height": SCREEN.1 });
    browser.context(&json!({ "viewport": screen, "colorScheme": "light" }))
}

impl Workbench {
    /// A window at an address of VS Code.
    #[track_caller]
    pub fn open(profile: &Context, url: &str) -> Workbench {
        let page = profile.page();
        page.goto(url).unwrap();
        let workbench = Workbench { page };
        workbench.is_there();
        workbench
    }

    #[track_caller]
    fn is_there(&self) {
        self.begins("the window is loaded", |page| {
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

    /// Waits until the window is attached to a hub; returns its port for agents.
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

    /// Reloads the window, as *Developer: Reload Window* does.
    #[track_caller]
    pub fn reload(&self) {
        self.page.reload();
        self.is_there();
    }

    // Files

    /// Opens a file by name, with Ctrl+P.
    #[track_caller]
    pub fn open_file(&self, name: &str) {
        // VS Code's file search may not find a file that was just created, and does not search again by itself.
        let row = format!("{QUICK_ROWS}:has-text('{name}')");
        self.page.waits(&format!("{name} is found"), |page| {
            page.press("Control+P");
            page.sees(QUICK_INPUT);
            page.types(name);
            let until = Instant::now() + FILE_SEARCH;
            while Instant::now() < until {
                if page.shows(&row) {
                    return Some(());
                }
                sleep(Duration::from_millis(10));
            }
            page.press("Escape");
            None
        });
        self.page.click(&row);
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

    /// Moves the cursor to the start of a line, counted from one, in the editor that has the focus.
    #[track_caller]
    pub fn go_to_line(&self, line: usize) {
        self.page.press("Control+G");
        self.page.sees(QUICK_INPUT);
        self.page.types(&line.to_string());
        self.page.press("Enter");
        self.page.waits("the line is chosen", |page| (!page.shows(QUICK_INPUT)).then_some(()));
    }

    /// The visible text of that tab; of a diff, its editable side.
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

    /// Waits until the editor of that tab shows this text.
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

    /// Activates a tab, and waits long enough for a decision on it to count.
    #[track_caller]
    pub fn look_at(&self, label: &str) {
        self.sees_tab(label);
        self.page.click(&tab(label));
        self.page.sees(&format!("{} .monaco-editor.focused", group_of(label)));
        sleep(LOOK);
    }

    /// Closes a tab with its X.
    #[track_caller]
    pub fn close_tab(&self, label: &str) {
        self.page.hover(&tab(label));
        self.page.click(&format!("{} .tab-actions a.action-label[aria-label^='Close']", tab(label)));
    }

    /// Closes every tab; unsaved text is discarded.
    #[track_caller]
    pub fn close_tabs(&self) {
        self.page.waits("no tab is left", |_| {
            let tabs = self.tabs();
            if !tabs.is_empty() {
                self.run("View: Revert and Close Editor");
            }
            tabs.is_empty().then_some(())
        });
    }

    /// Clicks a button above the editor of the active tab.
    #[track_caller]
    pub fn click_title(&self, label: &str, action: &str) {
        self.page
            .click(&format!("{} .editor-actions a.action-label[aria-label^='{action}']", group_of(label)));
    }

    /// Adds a comment on the line of the cursor.
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

    /// Waits for the title of a thread of comments.
    #[track_caller]
    pub fn sees_comment_label(&self, text: &str) {
        self.page.sees(&format!(".review-widget .review-title:has-text('{text}')"));
    }

    // Code lenses

    /// The code lenses of that tab, from the top.
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

    /// Clicks the `nth` lens with this text, counted from one, from the top.
    #[track_caller]
    pub fn click_lens(&self, label: &str, text: &str, nth: usize) {
        let group = group_of(label);
        // Quoted as JSON: the text may have an apostrophe.
        let text = json!(text);
        self.page.click(&format!(":nth-match({group} .codelens-decoration a:has-text({text}), {nth})"));
    }

    // The Reviews view

    #[track_caller]
    pub fn open_reviews(&self) {
        if !self.page.shows(".composite.viewlet[id*='linkspan']") {
            self.page.click(".activitybar .action-item:has(a.action-label[aria-label*='Linkspan'])");
        }
        self.page.sees(".composite.viewlet[id*='linkspan']");
    }

    /// Waits for this number on the icon of the view; empty: for none.
    #[track_caller]
    pub fn sees_badge(&self, number: &str) {
        let badge = ".activitybar .action-item:has(a.action-label[aria-label*='Linkspan']) .badge-content";
        self.page.waits(&format!("the badge {number:?}"), |page| {
            (page.texts(badge).join("") == number).then_some(())
        });
    }

    /// The texts of the rows of the view, from the top.
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

    /// Expands a row if it is collapsed.
    #[track_caller]
    pub fn expand_row(&self, part: &str) {
        self.page.sees(&row(part));
        if self.page.shows(&format!("{ROW}[aria-expanded='false']")) {
            let twistie = format!("{ROW}[aria-expanded='false']:has-text('{part}') .monaco-tl-twistie");
            self.page.click(&twistie);
        }
    }

    /// Clicks a button that a row shows under the mouse.
    #[track_caller]
    pub fn click_in_row(&self, part: &str, action: &str) {
        self.page.hover(&row(part));
        self.page.click(&format!("{} .actions a.action-label[aria-label^='{action}']", row(part)));
    }

    /// Clicks a button above the list of reviews. VS Code shows it while the pointer is there.
    #[track_caller]
    pub fn click_in_view(&self, action: &str) {
        self.page.hover(".part.sidebar .pane-header:has-text('Reviews')");
        self.page.click(&format!(
            ".part.sidebar .title-actions a.action-label[aria-label^='{action}'], \
                                  .part.sidebar .pane-header .actions a.action-label[aria-label^='{action}']"
        ));
    }

    // Commands, messages, the status bar

    /// Runs a command by its title, with F1.
    #[track_caller]
    pub fn run(&self, title: &str) {
        let row = format!("{QUICK_ROWS}:has-text('{title}')");
        // A command is listed only after its extension has been loaded, and is not added to a list that is already open.
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

    /// Types into the open quick pick, and chooses the row that contains `choice`.
    #[track_caller]
    pub fn quick_pick(&self, typed: &str, choice: &str) {
        self.page.sees(QUICK_INPUT);
        self.page.types(typed);
        self.page.click(&format!("{QUICK_ROWS}:has-text('{choice}')"));
    }

    /// Waits for an input box that says this.
    #[track_caller]
    pub fn sees_prompt(&self, text: &str) {
        self.page.sees(&format!(".quick-input-widget:has-text('{text}')"));
    }

    /// Enters a text into the open input box.
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

    /// Waits for a notification that contains this; returns its whole text.
    #[track_caller]
    pub fn sees_notification(&self, part: &str) -> String {
        self.page.waits(&format!("a notification {part:?}"), |_| {
            self.notifications().into_iter().find(|message| message.contains(part))
        })
    }

    /// Waits as long as a window may take to start.
    #[track_caller]
    pub fn sees_notification_at_start(&self, part: &str) -> String {
        self.begins(&format!("a notification {part:?}"), |_| {
            self.notifications().into_iter().find(|message| message.contains(part))
        })
    }

    /// Clicks a button of the notification that contains `part`.
    #[track_caller]
    pub fn click_notification(&self, part: &str, button: &str) {
        self.page.click(&format!("{NOTIFICATION}:has-text('{part}') a.monaco-button:has-text('{button}')"));
    }

    /// Closes the notification that contains `part` with its X.
    #[track_caller]
    pub fn close_notification(&self, part: &str) {
        let message = format!("{NOTIFICATION}:has-text('{part}')");
        self.page.hover(&message);
        self.page.click(&format!("{message} .codicon-notifications-clear"));
        self.page.waits("the message is gone", |page| (!page.shows(&message)).then_some(()));
    }

    #[track_caller]
    pub fn clear_notifications(&self) {
        if !self.notifications().is_empty() {
            self.run("Notifications: Clear All Notifications");
            self.page.sees_no(NOTIFICATION);
        }
    }

    /// Waits for the settings, in a tab or an overlay, and closes them.
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

    /// Opens a new terminal, with the cursor in it.
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

    /// Runs a command line in the active terminal and returns its output.
    #[track_caller]
    pub fn in_terminal(&self, world: &World, line: &str) -> String {
        let (out, done) = (world.root().join("t/output"), world.root().join("t/finished"));
        let _ = std::fs::remove_file(&done);
        self.page.types(&format!("({line}) > {} 2>&1; touch {}\n", out.display(), done.display()));
        self.page.waits(&format!("{line:?} has run"), |_| done.exists().then_some(()));
        std::fs::read_to_string(&out).unwrap()
    }

    #[track_caller]
    pub fn picture(&self, path: &Path) {
        self.page.picture(path);
    }

    /// Takes a screenshot of a failure into the scratch folder.
    pub fn picture_failure(&self, name: &str) {
        let path = paths::scratch().join(format!("{name}.png"));
        if self.page.try_picture(&path).is_ok() {
            eprintln!("--- screenshot: {}", path.display());
        }
    }
}

impl Drop for Workbench {
    /// Closes the window. Unsaved text is lost.
    fn drop(&mut self) {
        if thread::panicking() {
            self.picture_failure(thread::current().name().unwrap_or("window"));
        }
        self.page.discard();
    }
}

fn tab(label: &str) -> String {
    format!("{TAB}{}", named(label))
}

/// The editor group in which that tab is active.
fn group_of(label: &str) -> String {
    format!(".editor-group-container:has(.tab.active{})", named(label))
}

/// A file's tab has the name of the file; a review's tab continues after the arrow. VS Code appends a comma and more text
/// for screen readers.
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
