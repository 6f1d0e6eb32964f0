//! What every model is told in Linkspan's words. Each agent puts a text of its own around them.

/// After everything was accepted, with a comment.
pub(super) fn commented(path: &str) -> String {
    format!(
        "The user accepted the change of {path} exactly as you proposed it.
Comment on line 2: Good.
The next ones, too.
(Lines are counted in your proposed text.)"
    )
}

/// After the first hunk of two was taken.
pub(super) fn first_hunk(path: &str) -> String {
    format!(
        "The user accepted 1 of 2 hunks of {path}.
Accepted, these changes are in the file:
@@ -2,1 +2,1 @@
-two
+2
Not accepted, these changes are NOT in the file:
@@ -8,1 +8,1 @@
-eight
+8
The file now holds the user's version; read it before you edit it again."
    )
}

/// After the user's own text for the second hunk.
pub(super) fn edited(path: &str) -> String {
    // A tab ends a name with spaces.
    format!(
        "The user edited the change of {path} and accepted the edited text instead of yours.
How it differs from yours (- your line, not in the file; + the user's line, in the file):
--- your proposed text\t
+++ the user's text\t
@@ -5,5 +5,5 @@
 five
 six
 seven
-8
+EIGHT
 nine
The file now holds the user's version; read it before you edit it again."
    )
}

/// After a rejection with a reason of three lines and two comments.
pub(super) fn rejected(path: &str) -> String {
    format!(
        "The user rejected the change of {path}. Nothing of it was written. The file is as it was before.
Reason: Use the existing helper.
It is in numbers.txt.
Do not write digits.
Comment on line 2: Two is a word here.
Comment on line 8: Eight, too.
See line 2.
(Lines are counted in your proposed text.)"
    )
}
