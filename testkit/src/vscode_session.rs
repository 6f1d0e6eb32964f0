//! A running VS Code with its browser and its world. Starting one takes longer than most scenarios, so many use one,
//! each with a new window, a new folder, and a machine on which no hub ever ran.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::browser::Context;
use super::{Agent, Browser, Version, VsCode, Workbench, World, workbench};

pub struct VsCodeSession {
    /// Of the pages of all windows, so that each finds the scripts of VS Code in the cache.
    profile: Context,
    browser: Browser,
    pub vscode: VsCode,
    /// Declared last, so that it is dropped after the processes that run in it.
    pub world: World,
}

/// A window on the workspace, attached to a hub.
pub struct EditorWindow<'a> {
    pub workbench: Workbench,
    /// For agents.
    pub port: u16,
    pub vscode: &'a VsCode,
    pub world: &'a World,
}

impl VsCodeSession {
    #[track_caller]
    pub fn start(version: Version) -> VsCodeSession {
        let world = World::new();
        let vscode = VsCode::installed(&world, version).start();
        VsCodeSession::with(vscode, world)
    }

    /// With a folder of extensions that only this one uses.
    #[track_caller]
    pub fn with_extensions(version: Version, world: World, extensions: PathBuf) -> VsCodeSession {
        let vscode = VsCode::installed(&world, version).extensions(extensions).start();
        VsCodeSession::with(vscode, world)
    }

    fn with(vscode: VsCode, world: World) -> VsCodeSession {
        let browser = Browser::start();
        let profile = workbench::profile(&browser);
        VsCodeSession { profile, browser, vscode, world }
    }

    #[track_caller]
    pub fn open(&self) -> EditorWindow<'_> {
        self.open_with(&json!({}))
    }

    /// With these settings of the user.
    #[track_caller]
    pub fn open_with(&self, settings: &Value) -> EditorWindow<'_> {
        self.vscode.set_settings(settings);
        let workbench = Workbench::open(&self.profile, &self.vscode.window(&self.world.workspace()));
        let port = workbench.attached(&self.world);
        EditorWindow { workbench, port, vscode: &self.vscode, world: &self.world }
    }

    /// A window at an address of VS Code, which may not come to be attached.
    #[track_caller]
    pub fn open_at(&self, url: &str) -> Workbench {
        Workbench::open(&self.profile, url)
    }

    /// The same in a new profile: VS Code and extensions remember nothing of other windows.
    #[track_caller]
    pub fn open_in_new_profile(&self, url: &str) -> Workbench {
        Workbench::open(&workbench::profile(&self.browser), url)
    }

    /// Ends all windows and the hub, and forgets everything; checks that Linkspan left no file behind.
    #[track_caller]
    pub fn reset(&mut self) {
        self.vscode.close_windows();
        self.world.reset();
        self.vscode.set_settings(&json!({}));
        self.vscode.set_program("".as_ref());
    }
}

impl EditorWindow<'_> {
    #[track_caller]
    pub fn claude(&self) -> Agent {
        Agent::claude(self.world, self.port)
    }

    #[track_caller]
    pub fn nexus3(&self) -> Agent {
        Agent::nexus3(self.world, self.port)
    }

    /// Makes the window ready for the next scenario: no tab, no review, no message, no file.
    #[track_caller]
    pub fn clear(&self) {
        self.workbench.close_tabs();
        for review in self.world.reviews() {
            let id = review["review"].as_str().unwrap();
            // Another decision may be under way.
            self.world.run(&["reject", id]);
        }
        self.workbench.page.waits("no review is left", |_| self.world.reviews().is_empty().then_some(()));
        self.workbench.clear_notifications();
        for entry in std::fs::read_dir(self.world.workspace()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        }
    }
}
