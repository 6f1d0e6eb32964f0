//! The six things that chat panels and slash commands offer for code: explain, test, and so on. What is asked of the
//! model for each; nothing else.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Write code from a description.
    Generate,
    /// Find and fix an error.
    Debug,
    /// Explain code.
    Explain,
    /// Write tests.
    Test,
    /// Write documentation.
    Docs,
    /// Build a feature.
    Implement,
}

impl Task {
    /// Every one.
    pub const ALL: [Task; 6] =
        [Task::Explain, Task::Test, Task::Docs, Task::Debug, Task::Implement, Task::Generate];

    /// As `/coding_task` and the slash commands name it.
    pub fn name(self) -> &'static str {
        match self {
            Task::Generate => "generate",
            Task::Debug => "debug",
            Task::Explain => "explain",
            Task::Test => "test",
            Task::Docs => "docs",
            Task::Implement => "implement",
        }
    }

    /// By its name.
    pub fn from_name(name: &str) -> Option<Task> {
        Task::ALL.into_iter().find(|task| task.name() == name)
    }

    /// The prompt for the model. `subject` is a file, code, or a description.
    pub fn prompt(self, subject: &str) -> String {
        let wanted = match self {
            Task::Generate => {
                "Write code for the description below. Follow the conventions of the code around it, and put it where \
                 it belongs."
            }
            Task::Debug => {
                "Find the cause of the problem below. Explain it in a few sentences, then make the smallest fix."
            }
            Task::Explain => {
                "Explain the code below: what it is for, how it works, and what a reader could miss. Change nothing."
            }
            Task::Test => {
                "Write tests for the code below, in the test framework that this project uses. Cover the edge cases, \
                 and run the tests if you can."
            }
            Task::Docs => {
                "Write documentation for the code below, in the form that this project uses. Change no behaviour."
            }
            Task::Implement => {
                "Implement what is described below. Look at the existing code first, make a short plan, then make the \
                 changes and check them."
            }
        };
        format!("{wanted}\n\n{subject}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_has_a_name_and_keeps_its_subject() {
        for task in Task::ALL {
            assert_eq!(Task::from_name(task.name()), Some(task));
            assert!(task.prompt("THE SUBJECT").ends_with("\n\nTHE SUBJECT"));
        }
        assert_eq!(Task::from_name("Explain"), None);
    }
}
