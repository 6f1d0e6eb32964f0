;;; linkspan.el --- Review what coding agents propose  -*- lexical-binding: t; -*-

;; Author: The Linkspan authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, vc
;; URL: https://linkspan.invalid/
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `linkspan-mode' connects Emacs to the hub of Linkspan, through its program `linkspan'.  A change that a coding agent
;; proposes is then a unified diff (`linkspan-review'), in which you accept it, some of its hunks or your own version of
;; it, or reject it with comments.  Nothing that arrives takes the focus: there is a message, and a number in the mode
;; line.  What the hub sends is text: it is shown, never evaluated, and its control characters are made harmless.

;;; Code:

(require 'ansi-color)
(require 'cl-lib)
(require 'comint)
(require 'diff-mode)
(require 'flymake)
(require 'imenu)
(require 'jsonrpc)
(require 'map)
(require 'project)
(require 'subr-x)
(require 'tabulated-list)
(require 'text-property-search)
(require 'xref)

(declare-function dired-get-marked-files "dired")

(defgroup linkspan nil
  "Review what coding agents propose."
  :group 'tools :prefix "linkspan-")

(defcustom linkspan-program "linkspan"
  "The program `linkspan': its name on variable `exec-path', or its path."
  :type 'string)

(defcustom linkspan-environment t
  "Whether shells started in Emacs get the variables by which agents find it."
  :type 'boolean)

(defcustom linkspan-folders-function #'linkspan-project-folders
  "A function that returns the workspace folders, the main one first."
  :type 'function)

(defface linkspan-accepted '((t :inherit success)) "An accepted hunk.")
(defface linkspan-left '((t :inherit warning)) "A hunk that is left out, and a warning.")
(defface linkspan-comment '((t :inherit font-lock-doc-face)) "A comment of the user.")

(defconst linkspan--version "0.1.0" "The version of this file.")
(defconst linkspan--misclick 0.4 "A key so many seconds after a change was meant for what was there before.")
(defconst linkspan--max-lines 5000 "More lines of one side of a hunk are only counted.")
(defconst linkspan--max-columns 2000 "Longer lines are cut where they are shown.")
(defconst linkspan--max-text 1000000 "The longest selection, and output of a command.")
(defconst linkspan--not-unicode "[^\0-\ud7ff\ue000-\x10ffff]" "Characters that JSON cannot have.")

;;;; Texts

(defun linkspan--true (value)
  "Whether VALUE, from JSON, is true."
  (and value (not (eq value :json-false))))

(defun linkspan--bool (value)
  "VALUE as a JSON boolean."
  (if value t :json-false))

(defun linkspan--get (object &rest keys)
  "The member of the JSON OBJECT that KEYS lead to."
  (seq-reduce #'plist-get keys object))

(defun linkspan--object (&rest members)
  "A JSON object of MEMBERS, without those that are nil."
  (cl-loop for (key value) on members by #'cddr when value append (list key value)))

(defun linkspan--visible (text)
  "Return TEXT, cut, with the characters that hide or reorder others visible."
  (let ((text (replace-regexp-in-string "[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
                                        (lambda (found) (format "<U+%04X>" (aref found 0))) (or text "") t t)))
    (if (<= (length text) linkspan--max-columns)
        text
      (format "%s… (%d more characters)" (substring text 0 linkspan--max-columns) (- (length text) linkspan--max-columns)))))

(defun linkspan--plain (text)
  "TEXT as one harmless line for people."
  (linkspan--visible (replace-regexp-in-string "[\0-\x1f\x7f-\x9f]" " " (or text ""))))

(defun linkspan--plain-lines (text)
  "TEXT with each line harmless, without escape sequences."
  (mapconcat #'linkspan--plain (split-string (ansi-color-filter-apply (or text "")) "\r?\n") "\n"))

(defun linkspan--encodable (value)
  "VALUE, for JSON, with characters that are not Unicode replaced."
  (cond ((stringp value) (replace-regexp-in-string linkspan--not-unicode "?" value t t))
        ((vectorp value) (vconcat (mapcar #'linkspan--encodable value)))
        ((consp value) (mapcar #'linkspan--encodable value))
        (t value)))

(defun linkspan--lf (text)
  "TEXT with LF as its line endings."
  (string-replace "\r\n" "\n" (or text "")))

(defun linkspan--say (format &rest args)
  "Tell the user in the echo area: FORMAT with ARGS."
  (message "Linkspan: %s" (linkspan--plain (apply #'format format args))))

(defun linkspan--name (path)
  "The name of the file at PATH, for people."
  (linkspan--plain (file-name-nondirectory (or path ""))))

(defun linkspan--short (path)
  "PATH for people."
  (let (file-name-handler-alist) (linkspan--plain (abbreviate-file-name path))))

(defun linkspan--show-text (name text)
  "Show TEXT in a buffer called NAME."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (linkspan--plain-lines text))
      (goto-char (point-min))
      (special-mode))
    (display-buffer (current-buffer))))

;;;; The connection

(defclass linkspan--channel (jsonrpc-process-connection) ()
  :documentation "A connection whose answers may come later.")

(cl-defmethod jsonrpc-connection-send :around ((conn linkspan--channel) &rest args)
  "Send ARGS to CONN.  A result that is a function gets a function to send it."
  (let ((result (plist-get args :result)) (id (plist-get args :id)))
    (if (functionp result)
        (funcall result (lambda (&rest answer)
                          (when (jsonrpc-running-p conn) (apply #'jsonrpc-connection-send conn :id id answer))))
      (apply #'cl-call-next-method conn (linkspan--encodable args)))))

(defvar linkspan--connection nil "The connection to `linkspan attach'.")
(defvar linkspan--process nil "The process `linkspan attach'.")
(defvar linkspan--state 'off "One of off, starting, attached, away and failed.")
(defvar linkspan--why nil "Why the hub cannot be reached.")
(defvar linkspan--window nil "What the hub said of the window.")
(defvar linkspan--pause 0.5 "Seconds until the next start.")
(defvar linkspan--timer nil "The timer of the next start.")
(defvar linkspan--variables nil "The names of the variables that were set for terminals.")
(defvar linkspan--reviews nil "The pending reviews, oldest first.")
(defvar linkspan-mode)
(defvar linkspan--questions nil "The pending questions, oldest first.")
(defvar linkspan--folders nil "The folders that the hub knows.")

(defconst linkspan--exits
  '((3 . "there is no hub, and none could be started.  See M-x linkspan-doctor")
    (5 . "the hub did not admit this Emacs.  See M-x linkspan-doctor")
    (6 . "the running hub has a different version.  Run `linkspan hub stop', then M-x linkspan-restart"))
  "What the exit codes of `linkspan attach' mean.")

(cl-defgeneric linkspan--handle (method _params)
  "Answer the request METHOD."
  (jsonrpc-error :code -32601 :message (format "Emacs does not support `%s'" method)))

(defmacro linkspan--on (method members &rest body)
  "Answer the request METHOD with BODY, with MEMBERS of its `params' bound."
  (declare (indent 2))
  `(cl-defmethod linkspan--handle ((_method (eql ',method)) params)
     (cl-destructuring-bind (&key ,@members &allow-other-keys) params ,@body)))

(defun linkspan--refuse (code format &rest args)
  "End a handler with an error CODE and a message, FORMAT with ARGS."
  (jsonrpc-error :code code :message (linkspan--plain (apply #'format format args))))

(defun linkspan--dispatch (_conn method params)
  "Answer the request METHOD with PARAMS, without a question to the user."
  (let ((inhibit-interaction t))
    (condition-case failed
        (linkspan--handle method params)
      (jsonrpc-error (signal (car failed) (cdr failed)))
      (error (linkspan--refuse -32603 "%s: %s" method (error-message-string failed))))))

(defun linkspan--later (seconds test value)
  "Answer with the result of VALUE, once TEST succeeds or after SECONDS."
  (let ((end (+ (float-time) seconds)))
    (lambda (reply)
      (named-let poll ()
        (if (or (funcall test) (>= (float-time) end))
            (apply reply (condition-case failed
                             (list :result (funcall value))
                           (error (list :error (list :code -32603 :message (error-message-string failed))))))
          (run-at-time 0.05 nil #'poll))))))

(defun linkspan--set-state (state &optional why)
  "The connection is in STATE now, because of WHY."
  (setq linkspan--state state linkspan--why why)
  (when (eq state 'failed) (linkspan--say "%s" why))
  (force-mode-line-update t))

(defun linkspan--unset-variables ()
  "Forget the variables for terminals."
  (mapc #'setenv linkspan--variables)
  (setq linkspan--variables nil))

(defun linkspan--attached (window)
  "Take over WINDOW from the hub, and forget what the hub no longer has."
  (setq linkspan--window window linkspan--pause 0.5)
  (linkspan--unset-variables)
  (when linkspan-environment
    (cl-loop for (key value) on (plist-get window :environment) by #'cddr
             do (push (substring (symbol-name key) 1) linkspan--variables)
             (setenv (car linkspan--variables) value)))
  (linkspan--set-state 'attached)
  (mapc #'linkspan--close-question linkspan--questions)
  (let ((pending (append (plist-get window :pendingReviews) nil)))
    (dolist (review linkspan--reviews)
      (unless (or (member (linkspan--id review) pending) (linkspan--review-deciding review))
        (linkspan--remove review)))))

(defun linkspan--notified (_conn method params)
  "Handle the notification METHOD with PARAMS."
  (pcase method
    ('hub/lost (linkspan--set-state 'away (linkspan--plain (plist-get params :reason))))
    ('hub/back (linkspan--attached params))))

(defun linkspan--program (&rest args)
  "Return the program with ARGS as a command, or nil if it is missing."
  (let ((program (let ((default-directory "/")) (executable-find linkspan-program))))
    (and program (cons program args))))

(defun linkspan--ended (conn started)
  "Start again after the end of CONN, STARTED then, unless that is useless."
  (when (eq conn linkspan--connection)
    (let ((code (process-exit-status linkspan--process)) (was-attached linkspan--window))
      (setq linkspan--connection nil)
      (if (not (or was-attached (memq code '(0 70))))
          (linkspan--set-state 'failed (or (alist-get code linkspan--exits)
                                           (format "`%s attach' ended with code %d" linkspan-program code)))
        (setq linkspan--pause (if (> (- (float-time) started) 10) 0.5 (min 30 (* 2 linkspan--pause)))
              linkspan--timer (run-at-time linkspan--pause nil #'linkspan--start))
        (linkspan--set-state 'away (format "`linkspan attach' ended with code %d and is started again" code))))))

(defun linkspan--start ()
  "Start the program, and attach this Emacs to the hub."
  (linkspan--set-state 'starting)
  (if-let ((command (linkspan--program "attach")))
      (let* ((default-directory "/") (started (float-time))
             (conn (apply #'make-instance 'linkspan--channel
                          :name "linkspan" :request-dispatcher #'linkspan--dispatch
                          :notification-dispatcher #'linkspan--notified
                          :on-shutdown (lambda (conn) (linkspan--ended conn started))
                          :process (lambda ()
                                     (setq linkspan--process
                                           (make-process
                                            :name "linkspan" :command command :connection-type 'pipe
                                            :coding 'utf-8-emacs-unix :noquery t
                                            :stderr (get-buffer-create "*linkspan stderr*"))))
                          ;; Renamed in Emacs 30.
                          (if (< emacs-major-version 30) '(:events-buffer-scrollback-size 0)
                            '(:events-buffer-config (:size 0 :format short))))))
        (setq linkspan--connection conn linkspan--window nil)
        (jsonrpc-async-request
         conn 'attach
         (list :protocol 1 :version linkspan--version :editor (list :name "Emacs" :version emacs-version) :pid (emacs-pid)
               :folders (vconcat (setq linkspan--folders (funcall linkspan-folders-function)))
               :capabilities '( :documents t :selection t :diagnostics t :reviews t :edits t :format :json-false
                                :language t :terminal t :messages t :questions t :executeCode :json-false :trusted t))
         :timeout nil
         :success-fn (lambda (window) (when (eq conn linkspan--connection) (linkspan--attached window)))
         :error-fn (lambda (failed)
                     (when (and (eq conn linkspan--connection) (jsonrpc-running-p conn))
                       (linkspan--stop)
                       (linkspan--set-state 'failed (format "the hub did not take this Emacs: %s"
                                                            (linkspan--plain (plist-get failed :message))))))))
    (linkspan--set-state 'failed (format "there is no program `%s'.  Install it, or set `linkspan-program'"
                                         linkspan-program))))

(defun linkspan--stop ()
  "End the connection."
  (when linkspan--timer (cancel-timer linkspan--timer))
  (let ((conn linkspan--connection))
    (setq linkspan--connection nil linkspan--timer nil linkspan--window nil)
    (when (and conn (jsonrpc-running-p conn))
      (let ((inhibit-message t)) (jsonrpc-shutdown conn)))))

(defun linkspan--request (method params then &optional failed)
  "Send METHOD with PARAMS.  THEN gets the result, or FAILED a message."
  (let ((failed (or failed (lambda (why) (linkspan--say "%s" why)))))
    (if (not (eq linkspan--state 'attached))
        (funcall failed (format "not connected to the hub: %s" (or linkspan--why linkspan--state)))
      (jsonrpc-async-request linkspan--connection method params :timeout nil :success-fn then
                             :error-fn (lambda (why) (funcall failed (plist-get why :message)))))))

(defun linkspan--notify (method &rest params)
  "Send the notification METHOD with PARAMS, unless there is no connection."
  (when (eq linkspan--state 'attached)
    (jsonrpc-notify linkspan--connection method (or params (make-hash-table)))))

;;;; Documents

(defun linkspan--plain-p (path)
  "Whether no handler, of remote files for example, would be run for PATH."
  (and path (file-name-absolute-p path) (not (find-file-name-handler path 'write-region))))

(defun linkspan--local (path)
  "Return PATH, which the hub sent, or refuse to use it."
  (if (linkspan--plain-p path) path (linkspan--refuse -32016 "%s is not a plain file of this machine" path)))

(defun linkspan--document-p (buffer)
  "Whether BUFFER visits a file of this machine, as it is on disk."
  (linkspan--plain-p (buffer-file-name buffer)))

(defun linkspan--documents ()
  "The buffers that visit files."
  (seq-filter #'linkspan--document-p (buffer-list)))

(defun linkspan--buffer (path)
  "Return the buffer that visits PATH, or nil."
  (let ((buffer (and (linkspan--plain-p path) (find-buffer-visiting path))))
    (and buffer (linkspan--document-p buffer) buffer)))

(defun linkspan--load (path)
  "Return the buffer that visits PATH; open it if need be, without a question."
  (or (linkspan--buffer path)
      (let ((enable-local-variables :safe) (large-file-warning-threshold nil) (vc-follow-symlinks nil) (inhibit-message t))
        (unless (file-regular-p (linkspan--local path)) (linkspan--refuse -32016 "there is no file %s" path))
        (find-file-noselect path t))))

(defun linkspan--eol ()
  "What ends the lines in the file of the current buffer."
  (pcase (coding-system-eol-type (or buffer-file-coding-system 'utf-8-unix)) (1 "\r\n") (2 "\r") (_ "\n")))

(defun linkspan--text ()
  "The whole text of the current buffer, with the line endings of its file."
  (let ((eol (linkspan--eol))
        (text (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max)))))
    (if (equal eol "\n") text (string-replace "\n" eol text))))

(defun linkspan--position (pos)
  "POS in the current buffer as the protocol has it."
  (save-excursion
    (goto-char pos)
    (list :line (1- (line-number-at-pos nil t))
          :character (/ (length (encode-coding-string
                                 (buffer-substring-no-properties (line-beginning-position) (point)) 'utf-16le))
                        2))))

(defun linkspan--range (beg end)
  "The range from BEG to END in the current buffer as the protocol has it."
  (list :start (linkspan--position beg) :end (linkspan--position end)))

(defun linkspan--point (position)
  "Where POSITION of the protocol is in the current buffer."
  (save-excursion
    (goto-char (point-min))
    (forward-line (plist-get position :line))
    (let ((units (plist-get position :character)))
      (while (and (> units 0) (not (eolp)))
        (cl-decf units (if (> (char-after) #xffff) 2 1))
        (forward-char)))
    (point)))

(defmacro linkspan--in (buffer &rest body)
  "Run BODY in all of BUFFER, and leave point where it is."
  (declare (indent 1))
  `(with-current-buffer ,buffer (save-excursion (save-restriction (widen) ,@body))))

(defun linkspan--user-buffer ()
  "The buffer that the user works in."
  (window-buffer (or (minibuffer-selected-window) (selected-window))))

(defvar linkspan--last-active nil "The document that is active, or was last.")

(linkspan--on ping () nil)

(linkspan--on documents/list ()
  (list :documents
        (cl-loop for buffer in (linkspan--documents) vconcat
                 (with-current-buffer buffer
                   (list (list :path buffer-file-name :label (buffer-name)
                               :active (linkspan--bool (eq buffer linkspan--last-active))
                               :dirty (linkspan--bool (buffer-modified-p)) :untitled :json-false :pinned :json-false
                               :preview :json-false :groupIndex 0 :groupActive t :language (linkspan--language)
                               :lineCount (line-number-at-pos (point-max) t) :version (buffer-chars-modified-tick)))))))

(defun linkspan--language ()
  "The language of the current buffer."
  (string-remove-suffix "-mode" (symbol-name major-mode)))

(linkspan--on document/text (path)
  (let ((buffer (linkspan--buffer path)) (closed '(:open :json-false :dirty :json-false)))
    (if (not buffer)
        closed
      (with-current-buffer buffer
        (let ((text (linkspan--text)))
          (cond ((not (string-match-p linkspan--not-unicode text))
                 (list :open t :dirty (linkspan--bool (buffer-modified-p)) :version (buffer-chars-modified-tick)
                       :language (linkspan--language) :text text))
                ((buffer-modified-p)
                 (linkspan--refuse -32014 "%s has unsaved changes and bytes that are not text: save it first" path))
                ;; The file counts, which the hub reads in its own encoding.
                (closed)))))))

(linkspan--on document/dirty (path)
  (let ((buffer (linkspan--buffer path)))
    (list :open (linkspan--bool buffer) :dirty (linkspan--bool (and buffer (buffer-modified-p buffer))) :untitled :json-false)))

(defun linkspan--save ()
  "Save the current buffer without a question; return why not, or nil."
  ;; What was read from a file without other characters than ASCII has no encoding yet.
  (when (eq (coding-system-type (or buffer-file-coding-system 'undecided)) 'undecided)
    (setq buffer-file-coding-system
          (coding-system-change-text-conversion (or buffer-file-coding-system 'undecided-unix) 'utf-8)))
  (cond (buffer-read-only "the buffer is read-only")
        ((unencodable-char-position (point-min) (point-max) buffer-file-coding-system)
         (format "its encoding %s does not have every character" buffer-file-coding-system))
        ((and (file-exists-p buffer-file-name) (not (file-writable-p buffer-file-name))) "the file cannot be written")
        ((condition-case failed
             (let ((select-safe-coding-system-function nil) (require-final-newline nil) (inhibit-message t))
               (make-directory (file-name-directory buffer-file-name) t)
               (when (file-exists-p buffer-file-name) (set-visited-file-modtime))
               (basic-save-buffer)
               (and (buffer-modified-p) "it is still modified after saving"))
           (error (error-message-string failed))))))

(linkspan--on document/save (path)
  (if-let ((buffer (linkspan--buffer path)))
      (linkspan--in buffer
        (let ((why (if (and (buffer-modified-p) (not (verify-visited-file-modtime)))
                       "the file changed on disk since Emacs read it: the user has to save it"
                     (linkspan--save))))
          (linkspan--object :open t :saved (linkspan--bool (not why)) :message why)))
    '(:open :json-false :saved :json-false)))

(linkspan--on document/close (path)
  (let ((buffer (linkspan--buffer path)))
    (when (and buffer (not (buffer-modified-p buffer))) (ignore-errors (kill-buffer buffer)))
    (list :closed (linkspan--bool (not (buffer-live-p buffer))))))

(defun linkspan--find (target)
  "The range of TARGET in the current buffer as a pair of positions, or nil."
  (goto-char (point-min))
  (let ((case-fold-search nil) (start (plist-get target :start)) (end (plist-get target :end)))
    (if (equal (plist-get target :kind) "range")
        (cons (linkspan--point (linkspan--get target :range :start)) (linkspan--point (linkspan--get target :range :end)))
      (when-let ((found (and (search-forward (linkspan--lf start) nil t) (match-beginning 0))))
        (when (or (not end) (search-forward (linkspan--lf end) nil t))
          (cons found (if (linkspan--true (plist-get target :toEndOfLine)) (line-end-position) (point))))))))

(linkspan--on document/open (path focus target)
  (let ((buffer (linkspan--load path)))
    (if (and (linkspan--true focus) (not (active-minibuffer-window)))
        (pop-to-buffer-same-window buffer)
      (linkspan--say "an agent opened %s" (linkspan--short path)))
    (let* ((window (get-buffer-window buffer t)) (found (and target window (linkspan--in buffer (linkspan--find target)))))
      (when found (set-window-point window (car found)))
      (linkspan--in buffer
        (linkspan--object :language (linkspan--language) :lineCount (line-number-at-pos (point-max))
                          :selected (and found (linkspan--range (car found) (cdr found))))))))

(linkspan--on document/reveal (path range)
  (let* ((buffer (linkspan--buffer path)) (window (and buffer (get-buffer-window buffer t))))
    (when window
      (linkspan--in buffer
        (goto-char (linkspan--point (plist-get range :start)))
        (set-window-start window (line-beginning-position -4) t)))
    (list :revealed (linkspan--bool window))))

(linkspan--on document/visibleRange (path)
  (let* ((buffer (linkspan--buffer path)) (window (and buffer (get-buffer-window buffer t))))
    (if (not window)
        (make-hash-table)
      (linkspan--in buffer (list :range (linkspan--range (window-start window) (window-end window t)))))))

(defun linkspan--replace (text)
  "Make TEXT the text of this buffer as one undo step, and keep its markers."
  (undo-boundary)
  (let ((target (current-buffer)))
    (with-temp-buffer
      (insert text)
      (let ((source (current-buffer)))
        (with-current-buffer target (replace-buffer-contents source 1)))))
  (undo-boundary))

(defun linkspan--apply-ranges (edits)
  "Apply EDITS, which all refer to the text before, as one undo step."
  (undo-boundary)
  (seq-doseq (edit (seq-sort-by (lambda (edit) (linkspan--point (linkspan--get edit :range :start))) #'> (reverse edits)))
    (let ((beg (linkspan--point (linkspan--get edit :range :start))))
      (delete-region beg (linkspan--point (linkspan--get edit :range :end)))
      (goto-char beg)
      (insert (linkspan--lf (plist-get edit :newText)))))
  (undo-boundary))

(linkspan--on edits/apply (path version edits save)
  (let* ((buffer (linkspan--buffer path)) (now (and buffer (buffer-chars-modified-tick buffer))))
    (if (or (not buffer) (and version (/= version now)) (buffer-local-value 'buffer-read-only buffer))
        (linkspan--object :applied :json-false :saved :json-false :version now)
      (linkspan--in buffer
        (let* ((text (and (equal (plist-get edits :kind) "text") (plist-get edits :text))) (eol (linkspan--eol)) why after)
          (if text (linkspan--replace (string-replace eol "\n" text)) (linkspan--apply-ranges (plist-get edits :edits)))
          (when (and (linkspan--true save) (setq why (linkspan--save)))
            (linkspan--say "%s was changed here but not saved: %s" (linkspan--name path) why))
          (setq after (linkspan--text))
          (linkspan--object :applied t :saved (linkspan--bool (and (linkspan--true save) (not why)))
                            :version (buffer-chars-modified-tick) :text (and text (not (equal text after)) after)))))))

(defun linkspan--reread (path)
  "Read the file at PATH again where it is open, if somebody wrote it."
  (when-let ((buffer (linkspan--buffer path)))
    (with-current-buffer buffer
      (unless (or (buffer-modified-p) (verify-visited-file-modtime) (not (file-readable-p path)))
        (let ((coding-system-for-read buffer-file-coding-system) (inhibit-read-only t))
          (insert-file-contents path t nil nil t))))))

;;;; What agents learn without asking

(defvar linkspan--selection nil "The last selection in a document.")
(defvar linkspan--seen nil "What the user saw when it was last sent.")
(defvar linkspan--idle nil "The timer of the selection.")
(defvar linkspan--due nil "Whether the documents are looked at soon.")

(defun linkspan--selection-now ()
  "The selection of the user, or nil if they are not in a document."
  (let ((buffer (linkspan--user-buffer)))
    (when (linkspan--document-p buffer)
      (with-current-buffer buffer
        (let* ((point (point)) (mark (and mark-active (mark t)))
               (beg (min point (or mark point))) (end (max point (or mark point))))
          (list :path buffer-file-name :isEmpty (linkspan--bool (= beg end)) :range (linkspan--range beg end)
                :text (buffer-substring-no-properties beg (min end (+ beg linkspan--max-text)))
                :reversed (linkspan--bool (and mark (< point mark)))))))))

(linkspan--on selection/current () (linkspan--selection-now))
(linkspan--on selection/latest () (setq linkspan--selection (or (linkspan--selection-now) linkspan--selection)))

(defun linkspan--look ()
  "Send what the user selected, if it is new."
  (let* ((buffer (linkspan--user-buffer))
         (seen (with-current-buffer buffer (list buffer (point) (and mark-active (mark t)) (buffer-chars-modified-tick)))))
    (when (and (linkspan--document-p buffer) (not (equal seen linkspan--seen)))
      (setq linkspan--seen seen linkspan--last-active buffer linkspan--selection (linkspan--selection-now))
      (linkspan--notify 'selection/changed :selection linkspan--selection))))

(defun linkspan--documents-changed (&rest _)
  "The open documents changed, or one became dirty or clean."
  (unless (or linkspan--due (not buffer-file-name))
    (setq linkspan--due t)
    (run-at-time 0.05 nil (lambda ()
                            (setq linkspan--due nil)
                            (linkspan--notify 'documents/changed)
                            (let ((folders (funcall linkspan-folders-function)))
                              (unless (equal folders linkspan--folders)
                                (setq linkspan--folders folders)
                                (linkspan--notify 'folders/changed :folders (vconcat folders))))))))

(defun linkspan--focus-changed ()
  "A frame got or lost the focus."
  (linkspan--notify 'focus/changed :focused (linkspan--bool (seq-some (lambda (frame) (eq (frame-focus-state frame) t))
                                                                      (frame-list)))))

(defun linkspan-project-folders ()
  "The project in which Emacs was started, then those of the open files.
Whoever starts Emacs in the home directory has not opened it as a project."
  (cl-flet ((root (folder) (when-let ((project (project-current nil folder))) (project-root project)))
            (name (folder) (directory-file-name (expand-file-name folder))))
    (let* ((start (or command-line-default-directory "~/"))
           (folders (delete-dups (mapcar (lambda (buffer) (file-name-directory (buffer-file-name buffer)))
                                         (reverse (linkspan--documents))))))
      (seq-difference (delete-dups (mapcar #'name (cons (or (root start) start) (delq nil (mapcar #'root folders)))))
                      (list "/" (name "~/") (file-truename (name "~/")))))))

;;;###autoload
(defun linkspan-send-region (&optional whole)
  "Point agents at the selected lines, the file, or the marked files of Dired.
With a prefix argument WHOLE, at the whole file."
  (interactive "P")
  (let ((lines (and (use-region-p) (not whole)
                    (list :first (1- (line-number-at-pos (region-beginning) t))
                          :last (1- (line-number-at-pos (max (region-beginning) (1- (region-end))) t))))))
    (dolist (path (cond ((derived-mode-p 'dired-mode) (dired-get-marked-files))
                        (buffer-file-name (list buffer-file-name))
                        ((user-error "There is no file here to send"))))
      (linkspan--request
       'agents/mention (linkspan--object :path (expand-file-name path) :lines lines)
       (lambda (result)
         (let ((agents (append (plist-get result :agents) nil)))
           (linkspan--say "%s was mentioned to %s" (linkspan--name path)
                          (if agents (string-join agents ", ") "nobody: no agent is connected"))))))))

;;;; Diagnostics

(defvar-local linkspan--checked nil "The version of the text that a checker reported on last.")

(defun linkspan--reported (&rest _)
  "A checker reported on the current buffer."
  (setq linkspan--checked (buffer-chars-modified-tick))
  (when buffer-file-name (linkspan--notify 'diagnostics/changed :files (vector (list :path buffer-file-name)))))

(defun linkspan--settled-p (buffer)
  "Whether the checkers have seen the text of BUFFER as it is."
  (with-current-buffer buffer
    (or (not (or flymake-mode (bound-and-true-p flycheck-mode)))
        (and (eql linkspan--checked (buffer-chars-modified-tick))
             (not (and flymake-mode (seq-difference (flymake-running-backends) (flymake-reporting-backends))))))))

(defun linkspan--found ()
  "Return what the checkers found here: (BEGINNING END TYPE MESSAGE CODE)."
  (sort (append
         (and flymake-mode
              (mapcar (lambda (each)
                        (list (flymake-diagnostic-beg each) (flymake-diagnostic-end each) (flymake-diagnostic-type each)
                              (flymake-diagnostic-text each) nil))
                      (flymake-diagnostics)))
         (with-no-warnings ; flycheck may not be installed
           (and (bound-and-true-p flycheck-mode)
                (mapcar (lambda (each)
                          (let ((region (flycheck-error-region-for-mode each 'symbols)))
                            (list (or (car region) 1) (or (cdr region) 1) (flycheck-error-level each)
                                  (flycheck-error-message each) (flycheck-error-id each))))
                        flycheck-current-errors))))
        (lambda (a b) (< (car a) (car b)))))

(defun linkspan--diagnostics (buffer)
  "The diagnostics of BUFFER as the protocol has them."
  (linkspan--in buffer
    (list :path buffer-file-name :version (buffer-chars-modified-tick) :settled (linkspan--bool (linkspan--settled-p buffer))
          :diagnostics (cl-loop for (beg end type text code) in (linkspan--found)
                                for severity = (cond ((string-match-p "error" (symbol-name type)) "error")
                                                     ((string-match-p "warning" (symbol-name type)) "warning")
                                                     ("info"))
                                vconcat (list (linkspan--object :message (or text "") :severity severity
                                                                :range (linkspan--range beg end) :code code))))))

(linkspan--on diagnostics/get (path waitMs)
  (let ((buffers (if path (remq nil (list (linkspan--buffer path))) (linkspan--documents))))
    (dolist (buffer buffers)
      (with-current-buffer buffer
        ;; Nothing is checked by itself in a buffer that is not shown.
        (when (and flymake-mode (not (linkspan--settled-p buffer))) (flymake-start))))
    (linkspan--later
     (/ (min 60000 (or waitMs (if path 2000 0))) 1000.0)
     (lambda () (seq-every-p #'linkspan--settled-p (setq buffers (seq-filter #'buffer-live-p buffers))))
     (lambda ()
       (let ((files (mapcar #'linkspan--diagnostics buffers)))
         (list :files (if path
                          (vector (append (list :path path) (or (cddar files) '(:settled :json-false :diagnostics []))))
                        (vconcat (seq-remove (lambda (each) (seq-empty-p (plist-get each :diagnostics))) files)))))))))

;;;; What Emacs knows of languages

(defun linkspan--place (item)
  "Where ITEM of xref is, or nil."
  (when-let* ((marker (ignore-errors (xref-location-marker (xref-item-location item))))
              (path (buffer-file-name (marker-buffer marker))))
    (linkspan--in (marker-buffer marker)
      (list :path path :range (linkspan--range marker (+ marker (or (ignore-errors (xref-match-length item)) 0)))))))

(defun linkspan--places (find path position)
  "Return what FIND, of xref, has for the identifier at POSITION of PATH."
  (linkspan--in (linkspan--load path)
    (goto-char (linkspan--point position))
    (let* ((backend (xref-find-backend)) (name (and backend (xref-backend-identifier-at-point backend))))
      (list :locations (vconcat (remq nil (mapcar #'linkspan--place
                                                  (seq-take (ignore-error (inhibited-interaction user-error)
                                                              (and name (funcall find backend name)))
                                                            500))))))))

(linkspan--on language/definition (path position) (linkspan--places #'xref-backend-definitions path position))
(linkspan--on language/references (path position) (linkspan--places #'xref-backend-references path position))

(linkspan--on language/hover (path position)
  (let (said (waiting 0))
    (linkspan--in (linkspan--load path)
      (goto-char (linkspan--point position))
      (run-hook-wrapped 'eldoc-documentation-functions
                        (lambda (ask)
                          (let* ((answered (eq ask #'flymake-eldoc-function)) ; those are no documentation
                                 (answer (lambda (doc &rest _)
                                           (unless answered
                                             (setq answered t)
                                             (cl-decf waiting)
                                             (when (stringp doc) (push (substring-no-properties doc) said)))))
                                 (doc (unless answered (cl-incf waiting) (ignore-errors (funcall ask answer)))))
                            (when (or (stringp doc) (not doc)) (funcall answer doc))
                            nil))))
    (linkspan--later 3 (lambda () (<= waiting 0)) (lambda () (list :contents (vconcat (reverse said)))))))

(defun linkspan--symbols (index container)
  "The symbols in INDEX of imenu, which are inside of CONTAINER."
  (cl-loop for (name . place) in index
           if (and (consp place) (consp (car place))) append (linkspan--symbols place name)
           else if (number-or-marker-p (if (consp place) (car place) place))
           collect (let ((beg (if (consp place) (car place) place)))
                     (linkspan--object
                      :name (substring-no-properties name) :symbolKind (downcase (or container "function"))
                      :location (list :path buffer-file-name
                                      :range (linkspan--range beg (progn (goto-char beg) (line-end-position))))))))

(linkspan--on language/symbols (kind path query)
  (list :symbols
        (vconcat (if (equal kind "document")
                     (linkspan--in (linkspan--load path)
                       (linkspan--symbols (ignore-errors (funcall imenu-create-index-function)) nil))
                   (with-current-buffer (linkspan--user-buffer)
                     (cl-loop for item in (seq-take (ignore-errors (xref-backend-apropos (xref-find-backend) query)) 200)
                              for place = (linkspan--place item)
                              when place collect (list :name (linkspan--plain (xref-item-summary item)) :symbolKind "symbol"
                                                       :location place)))))))

(linkspan--on language/rename ()
  '(:files [] :message "Emacs renames only for its user (M-x eglot-rename): propose the changes instead"))

;;;; Reviews: what the hub sent, and what the user decides

(cl-defstruct (linkspan--review (:constructor linkspan--make-review) (:copier nil))
  "A pending change, with marks by hunk, and comments as (LINE . TEXT)."
  shown proposed marks comments (moved 0) deciding)

(defvar-local linkspan--here nil "The review that the current buffer belongs to.")
(defvar-local linkspan--kind nil "What of it the buffer has: review, base or edit.")
(defvar-local linkspan--began nil "The proposed text that the user began to edit in this buffer.")

(defun linkspan--shown (review key)
  "The member KEY of what the hub sent for REVIEW."
  (plist-get (linkspan--review-shown review) key))

(defun linkspan--id (review) "The id of REVIEW." (linkspan--shown review :review))
(defun linkspan--file (review) "The name of the file of REVIEW." (linkspan--name (linkspan--shown review :path)))
(defun linkspan--hunks (review) "The hunks of REVIEW." (append (linkspan--shown review :hunks) nil))

(defun linkspan--find-review (id)
  "The pending review ID, or nil."
  (seq-find (lambda (review) (equal (linkspan--id review) id)) linkspan--reviews))

(defun linkspan--mark-of (review hunk)
  "How the user marked HUNK of REVIEW: accepted, left or nil."
  (alist-get (plist-get hunk :id) (linkspan--review-marks review) nil nil #'equal))

(defun linkspan--buffer-of (review kind)
  "Return the buffer of this KIND of REVIEW, or nil."
  (seq-find (lambda (buffer) (and (eq (buffer-local-value 'linkspan--here buffer) review)
                                  (eq (buffer-local-value 'linkspan--kind buffer) kind)))
            (buffer-list)))

(defun linkspan--update (review shown)
  "Make REVIEW what SHOWN has.  Comments stay with their lines."
  (let ((before (linkspan--review-proposed review)) (text (linkspan--lf (plist-get shown :proposed))))
    (when (and before (linkspan--review-comments review) (not (equal before text)))
      (with-temp-buffer
        (insert before)
        (dolist (comment (linkspan--review-comments review))
          (goto-char (point-min))
          (forward-line (1- (car comment)))
          (setcar comment (copy-marker (point))))
        (linkspan--replace text)
        (dolist (comment (linkspan--review-comments review))
          (setcar comment (line-number-at-pos (car comment))))))
    (setf (linkspan--review-shown review) shown
          (linkspan--review-proposed review) text
          (linkspan--review-marks review)
          (seq-filter (lambda (mark) (seq-some (lambda (hunk) (equal (plist-get hunk :id) (car mark))) (plist-get shown :hunks)))
                      (linkspan--review-marks review)))
    (linkspan--draw review)))

(linkspan--on review/show (review revision agent base proposed)
  (let ((known (linkspan--find-review review)))
    (cond ((not known)
           (setq known (linkspan--make-review) linkspan--reviews (append linkspan--reviews (list known)))
           (linkspan--update known params)
           (linkspan--say "%s proposes a change of %s.  M-x linkspan-review" agent (linkspan--file known)))
          ((>= revision (linkspan--shown known :revision))
           (unless (and (equal base (linkspan--shown known :base)) (equal (linkspan--lf proposed) (linkspan--review-proposed known)))
             (setf (linkspan--review-moved known) (float-time)))
           (linkspan--update known params)))
    (linkspan--changed)))

(linkspan--on review/waiting (review ownerGone)
  (when-let ((known (linkspan--find-review review)))
    (linkspan--update known (plist-put (linkspan--review-shown known) :ownerGone ownerGone))
    nil))

(linkspan--on review/hide (review reason)
  (when-let ((known (linkspan--find-review review)))
    (unless (linkspan--review-deciding known)
      (linkspan--say "%s is no longer pending: %s" (linkspan--file known)
                     (or (plist-get reason :error) (plist-get reason :by) (plist-get reason :kind))))
    (linkspan--remove known)))

(defun linkspan--changed ()
  "Draw the places that say how many reviews and questions there are."
  (force-mode-line-update t)
  (when-let ((list (get-buffer "*linkspan reviews*"))) (with-current-buffer list (revert-buffer)))
  nil)

(defun linkspan--remove (review)
  "REVIEW is over.  Text that the user did not send stays."
  (setq linkspan--reviews (delq review linkspan--reviews))
  (dolist (buffer (buffer-list))
    (when (eq (buffer-local-value 'linkspan--here buffer) review)
      (with-current-buffer buffer (setq linkspan--here nil))
      (if (and (buffer-local-value 'linkspan--began buffer) (buffer-modified-p buffer))
          (linkspan--say "%s is no longer pending; your text is still in %s" (linkspan--file review) buffer)
        (quit-windows-on buffer t)
        (when (buffer-live-p buffer) (kill-buffer buffer)))))
  (linkspan--reread (linkspan--shown review :path))
  (linkspan--changed))

(defun linkspan--decide (review kind &optional reason write-here)
  "Send that the user decided on REVIEW: KIND, accept or reject, for REASON.
With WRITE-HERE the hub writes instead of an agent that is gone."
  (let* ((edit (linkspan--buffer-of review 'edit)) (name (linkspan--file review)) (hunks (linkspan--hunks review))
         (taken (seq-remove (lambda (hunk) (eq (linkspan--mark-of review hunk) 'left)) hunks))
         (refused (lambda (why)
                    (setf (linkspan--review-deciding review) nil)
                    (linkspan--say "not decided: %s" why))))
    (cond ((linkspan--review-deciding review) (user-error "Not decided: your decision on %s is being sent" name))
          ((< (- (float-time) (linkspan--review-moved review)) linkspan--misclick)
           (user-error "Not decided: %s changed a moment ago.  Look at it again" name))
          ((and (equal kind "accept") edit (buffer-modified-p edit))
           (user-error "Not decided: you are editing %s.  C-c C-c there takes your text, C-c C-k drops it" name))
          ((and (equal kind "accept") hunks (not taken))
           (user-error "Not decided: every hunk of %s is left out.  Reject the change, or unmark a hunk" name)))
    (setf (linkspan--review-deciding review) t)
    (linkspan--request
     'review/decided
     (list :review (linkspan--id review) :revision (linkspan--shown review :revision) :digest (linkspan--shown review :digest)
           :decision (linkspan--object
                      :verdict (cond ((equal kind "reject") (linkspan--object :kind "reject" :reason reason))
                                     ((= (length taken) (length hunks)) '(:kind "accept"))
                                     ((list :kind "acceptHunks"
                                            :hunks (vconcat (mapcar (lambda (hunk) (plist-get hunk :id)) taken)))))
                      :comments (vconcat (mapcar (lambda (each) (list :line (car each) :text (cdr each)))
                                                 (linkspan--review-comments review)))
                      :writeHere write-here))
     (lambda (result)
       (setf (linkspan--review-deciding review) nil)
       (pcase (plist-get result :kind)
         ("taken" (linkspan--remove review)
          (linkspan--say "%s: %sed%s" name kind
                         (if linkspan--reviews (format ", %d more to review" (length linkspan--reviews)) "")))
         ("alreadyDecided" (linkspan--remove review)
          (linkspan--say "%s was already decided: %s" name (plist-get result :by)))
         ("notPending" (linkspan--remove review) (linkspan--say "%s is no longer pending" name))
         ("stale" (funcall refused (format "%s changed while you were deciding.  Look at it again" name)))
         ("askAgain" (funcall refused (format "%s changed in the meantime, and %s places conflict.  Look at it again" name
                                              (plist-get result :conflicts))))
         (_ (funcall refused (format "%s: %s%s" name (plist-get result :message)
                                     (if (linkspan--true (plist-get result :canWriteHere))
                                         "  Press w in its buffer to accept it and have the hub write the file" ""))))))
     refused)))

;;;; Reviews on the screen

(defun linkspan--note (review about)
  "Return what the agent of REVIEW will not receive ABOUT a decision."
  (let ((note (linkspan--get (linkspan--review-shown review) :receivesNotes about)))
    (if note (concat (linkspan--plain note) " ") "")))

(defvar-local linkspan--line 0 "The number of the line at point, from 0.")

(defun linkspan--insert-lines (sign lines from count line step hunk)
  "Insert COUNT of the buffer LINES after FROM, each after SIGN, as part of HUNK.
LINE is the number of the first on the proposed side, which grows by STEP."
  (dotimes (i (min count linkspan--max-lines))
    (let ((text (with-current-buffer lines
                  (forward-line (- (+ from i) linkspan--line))
                  (setq linkspan--line (+ from i))
                  (buffer-substring (point) (line-end-position)))))
      (insert (propertize (concat sign (linkspan--visible text) "\n")
                          'linkspan-line (+ line (* i step)) 'linkspan-hunk hunk))))
  (when (> count linkspan--max-lines)
    (insert (format "\\ %d more lines: e shows the whole text\n" (- count linkspan--max-lines)))))

(defun linkspan--insert-hunk (review hunk label lead trail base proposed)
  "Insert HUNK of REVIEW with a LABEL, from the lines of BASE and PROPOSED.
There are LEAD lines before it and TRAIL lines after it."
  (pcase-let* (((map :id (:beforeStart b) (:beforeCount bc) (:afterStart a) (:afterCount ac)) hunk)
               (mark (linkspan--mark-of review hunk))
               (conflict (seq-some (lambda (each) (and (<= (plist-get each :afterStart) (+ a ac))
                                                       (<= a (+ (plist-get each :afterStart) (plist-get each :afterCount)))))
                                   (linkspan--shown review :conflicts))))
    (cl-flet ((side (start count) (format "%d,%d" (if (= (+ lead count trail) 0) start (1+ (- start lead))) (+ lead count trail))))
      (insert (propertize (format "@@ -%s +%s @@ " (side b bc) (side a ac)) 'linkspan-hunk id)))
    (let ((start (point)))
      (insert (propertize (concat label (pcase mark ('accepted ": accepted") ('left ": left out"))
                                  (and conflict ", conflict: the file changed here too"))
                          'linkspan-hunk id))
      (when (or mark conflict)
        (overlay-put (make-overlay start (point)) 'face (if (eq mark 'accepted) 'linkspan-accepted 'linkspan-left))))
    (insert "\n")
    (linkspan--insert-lines " " base (- b lead) lead (1+ (- a lead)) 1 id)
    (linkspan--insert-lines "-" base b bc (max 1 (min (1+ a) (with-current-buffer proposed (count-lines 1 (point-max))))) 0 id)
    (linkspan--insert-lines "+" proposed a ac (1+ a) 1 id)
    (linkspan--insert-lines " " base (+ b bc) trail (+ 1 a ac) 1 id)))

(defun linkspan--insert-review (review base proposed)
  "Insert the diff of REVIEW, with the buffers BASE and PROPOSED for its texts."
  (let* ((shown (linkspan--review-shown review)) (hunks (linkspan--hunks review)) (name (linkspan--file review))
         (total (with-current-buffer base (count-lines 1 (point-max)))) (lead 0))
    (insert (linkspan--note review :all))
    (unless (bolp) (insert "\n") (fill-region (point-min) (point)))
    (when (linkspan--true (plist-get shown :omitted))
      (insert "This change is too large to show here: accept or reject it as a whole, or look at it in a browser,\n"
              "with M-x linkspan-page, or in a terminal, with `linkspan review'.\n"))
    (insert (format "--- %s\n+++ %s\n" (if (linkspan--true (plist-get shown :newFile)) "/dev/null" name) name))
    (cl-loop for (hunk next) on hunks for number from 1
             for stop = (+ (plist-get hunk :beforeStart) (plist-get hunk :beforeCount))
             for gap = (- (if next (plist-get next :beforeStart) total) stop)
             for trail = (min 3 (if next (/ (1+ gap) 2) gap))
             do (linkspan--insert-hunk review hunk (format "hunk %d of %d" number (length hunks))
                                       (if (= number 1) (min 3 (plist-get hunk :beforeStart)) lead) trail base proposed)
             (setq lead (min 3 (- gap trail))))
    (pcase-dolist (`(,line . ,text) (linkspan--review-comments review))
      (goto-char (point-max))
      (when-let ((match (text-property-search-backward 'linkspan-line line #'eql)))
        (overlay-put (make-overlay (prop-match-beginning match) (prop-match-end match)) 'after-string
                     (propertize (concat (replace-regexp-in-string "^" "    » " (linkspan--plain-lines text)) "\n")
                                 'face 'linkspan-comment))))))

(defun linkspan--draw (review)
  "Draw the buffer of REVIEW again, if there is one.  Point stays in its line."
  (when-let ((buffer (linkspan--buffer-of review 'review)))
    (with-current-buffer buffer
      (let ((inhibit-read-only t) (windows (get-buffer-window-list buffer nil t)) (line (line-number-at-pos))
            (start (and (get-buffer-window buffer t) (count-lines (point-min) (window-start (get-buffer-window buffer t))))))
        (delete-all-overlays)
        (erase-buffer)
        (cl-flet ((fill (text) (insert text) (goto-char (point-min)) (current-buffer)))
          (let ((target (current-buffer)))
            (with-temp-buffer
              (let ((base (fill (linkspan--lf (linkspan--shown review :base)))))
                (with-temp-buffer
                  (let ((proposed (fill (linkspan--review-proposed review))))
                    (with-current-buffer target (linkspan--insert-review review base proposed))))))))
        (goto-char (point-min))
        (forward-line (1- line))
        (dolist (window windows)
          (set-window-point window (point))
          (set-window-start window (save-excursion (goto-char (point-min)) (forward-line start) (point)) t))
        (when windows
          (linkspan--notify 'review/shown :review (linkspan--id review) :revision (linkspan--shown review :revision)))))))

(defun linkspan--header ()
  "The line above a review."
  (when linkspan--here
    (let ((shown (linkspan--review-shown linkspan--here)))
      (string-replace
       "%" "%%"
       (format " %s proposes %s%s%s%s   a accept, r/R reject, y/x hunk, e edit, c comment, n/p hunk, q later"
               (linkspan--plain (plist-get shown :agent)) (linkspan--file linkspan--here)
               (if (linkspan--true (plist-get shown :newFile)) " (new)" "")
               (if (plist-get shown :lineEndings) (concat ", " (linkspan--plain (plist-get shown :lineEndings))) "")
               (concat (unless (seq-empty-p (plist-get shown :conflicts))
                         (format ", %d conflicts" (length (plist-get shown :conflicts))))
                       (and (linkspan--true (plist-get shown :ownerGone)) ", the agent is gone")))))))

(defvar linkspan-review-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("a" . linkspan-accept) ("w" . linkspan-accept-write-here) ("r" . linkspan-reject)
                     ("R" . linkspan-reject-with-reason) ("y" . linkspan-accept-hunk) ("x" . linkspan-leave-hunk)
                     ("n" . diff-hunk-next) ("p" . diff-hunk-prev) ("N" . linkspan-next) ("P" . linkspan-previous)
                     ("e" . linkspan-edit) ("E" . linkspan-ediff) ("c" . linkspan-comment) ("l" . linkspan-list)
                     ("o" . linkspan-visit) ("q" . linkspan-quit) ("?" . describe-mode) ("SPC" . scroll-up-command)))
      (define-key map (kbd key) command))
    map)
  "The keys of a review.")

(define-derived-mode linkspan-review-mode diff-mode "Review"
  "A proposed change as a diff.  Hunks without a mark are accepted with the rest.

\\{linkspan-review-mode-map}"
  ;; Diff mode would take keys of its own, correct the hunks, and choose a mode by the text.
  (setq-local minor-mode-overriding-map-alist nil after-change-functions '(t) post-command-hook '(t)
              diff-font-lock-syntax nil diff-refine nil truncate-lines t
              header-line-format '(:eval (linkspan--header)))
  (add-hook 'kill-buffer-hook
            (lambda () (when linkspan--here (linkspan--notify 'review/closed :review (linkspan--id linkspan--here)))) nil t)
  (buffer-disable-undo)
  (setq buffer-read-only t))

(defun linkspan--current ()
  "The review that the user means."
  (or linkspan--here
      (and (derived-mode-p 'linkspan-list-mode) (linkspan--find-review (tabulated-list-get-id)))
      (and (not (cdr linkspan--reviews)) (car linkspan--reviews))
      (user-error (if linkspan--reviews "Which change?  M-x linkspan-list shows them" "There is nothing to review"))))

(defun linkspan--open (review)
  "Show REVIEW to the user."
  (let ((buffer (linkspan--buffer-of review 'review)))
    (unless buffer
      (setq buffer (generate-new-buffer (format "*linkspan %s*" (linkspan--file review))))
      (with-current-buffer buffer
        (linkspan-review-mode)
        (setq linkspan--here review linkspan--kind 'review)))
    (pop-to-buffer-same-window buffer)
    (let ((is-new (= (point-min) (point-max))))
      (linkspan--draw review)
      (when (and is-new (linkspan--hunks review)) (ignore-errors (goto-char (point-min)) (diff-hunk-next))))))

;;;###autoload
(defun linkspan-review (&optional review)
  "Look at REVIEW, by default the oldest pending change."
  (interactive)
  (linkspan--open (or review linkspan--here (car linkspan--reviews) (user-error "There is nothing to review"))))

(defun linkspan-next (&optional step)
  "Look at the next pending change, or at one that is STEP further."
  (interactive "p")
  (let* ((count (length linkspan--reviews)) (at (seq-position linkspan--reviews linkspan--here)))
    (when (= count 0) (user-error "There is nothing to review"))
    (linkspan--open (nth (mod (if at (+ at (or step 1)) 0) count) linkspan--reviews))))

(defun linkspan-previous ()
  "Look at the previous pending change."
  (interactive) (linkspan-next -1))

(defun linkspan-accept ()
  "Accept the change, without the hunks that are left out."
  (interactive) (linkspan--decide (linkspan--current) "accept"))

(defun linkspan-accept-write-here ()
  "Accept the change, and have the hub write for an agent that is gone."
  (interactive) (linkspan--decide (linkspan--current) "accept" nil t))

(defun linkspan-reject ()
  "Reject the change."
  (interactive) (linkspan--decide (linkspan--current) "reject"))

(defun linkspan-reject-with-reason ()
  "Reject the change, and tell the agent why."
  (interactive) (let* ((review (linkspan--current)) (seen (linkspan--shown review :revision))
         (reason (read-string (format "%sWhy not %s? " (linkspan--note review :reason) (linkspan--file review)))))
    (unless (eql seen (linkspan--shown review :revision)) (user-error "Not decided: it changed while you were typing"))
    (linkspan--decide review "reject" (and (not (string-blank-p reason)) (string-trim reason)))))

(defun linkspan--decide-all (kind set)
  "Decide KIND for every pending change, or every one of the SET of this one."
  (let* ((id (and set (or (linkspan--shown (linkspan--current) :set) (user-error "This change is not part of a set"))))
         (reviews (seq-filter (lambda (review) (or (not set) (equal (linkspan--shown review :set) id))) linkspan--reviews)))
    (when (y-or-n-p (format "%s %d changes? " (capitalize kind) (length reviews)))
      (dolist (review reviews) (when (memq review linkspan--reviews) (linkspan--decide review kind))))))

(defun linkspan-accept-all (&optional set)
  "Accept every change; with a prefix argument those of the SET of this one."
  (interactive "P") (linkspan--decide-all "accept" set))

(defun linkspan-reject-all (&optional set)
  "Reject every change; with a prefix argument those of the SET of this one."
  (interactive "P") (linkspan--decide-all "reject" set))

(defun linkspan--mark (mark)
  "Give the hunk at point MARK, or take it away.
When every hunk is marked, the change is decided."
  (let* ((review (linkspan--current)) (hunks (linkspan--hunks review)) (id (get-text-property (point) 'linkspan-hunk))
         (hunk (or (seq-find (lambda (each) (equal (plist-get each :id) id)) hunks)
                   (user-error "Move to a hunk first: n goes to the next")))
         (is-first (not (linkspan--review-marks review))))
    (setf (alist-get (plist-get hunk :id) (linkspan--review-marks review) nil t #'equal)
          (unless (eq (linkspan--mark-of review hunk) mark) mark))
    (linkspan--draw review)
    (if (= (length (linkspan--review-marks review)) (length hunks))
        (linkspan--decide review (if (rassq 'accepted (linkspan--review-marks review)) "accept" "reject"))
      (when (and is-first (not (equal "" (linkspan--note review :hunks)))) (linkspan--say "%s" (linkspan--note review :hunks)))
      (when (linkspan--mark-of review hunk) (ignore-errors (diff-hunk-next))))))

(defun linkspan-accept-hunk ()
  "Accept the hunk at point, or take that mark away."
  (interactive) (linkspan--mark 'accepted))

(defun linkspan-leave-hunk ()
  "Leave the hunk at point out, or take that mark away."
  (interactive) (linkspan--mark 'left))

(defun linkspan-comment ()
  "Comment on the line at point, or change the comment there."
  (interactive)
  (let* ((review (linkspan--current)) (line (or (get-text-property (point) 'linkspan-line) (user-error "Move to a line first")))
         (text (read-string (format "%sComment on line %d: " (linkspan--note review :comments) line)
                            (alist-get line (linkspan--review-comments review)))))
    (setf (alist-get line (linkspan--review-comments review) nil t) (and (not (string-blank-p text)) (string-trim text)))
    (linkspan--draw review)))

(defun linkspan-visit ()
  "Go to the file of the change."
  (interactive) (find-file-other-window (linkspan--local (linkspan--shown (linkspan--current) :path))))

(defun linkspan-quit ()
  "Close the review.  That decides nothing."
  (interactive) (quit-window t))

;;;; Editing what is proposed

(defvar linkspan-edit-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'linkspan-edit-finish)
    (define-key map (kbd "C-c C-k") #'linkspan-edit-drop)
    map)
  "The keys of a proposed text.")

(define-minor-mode linkspan-edit-mode
  "In a text that an agent proposes, which the user may change."
  :lighter " Proposed")

(defun linkspan--side (review kind text)
  "Return a buffer for the side KIND of REVIEW, with TEXT.
Its mode is that of the file, by its name: nothing in the text chooses it."
  (or (linkspan--buffer-of review kind)
      (with-current-buffer (generate-new-buffer (format "*linkspan %s %s*" kind (linkspan--file review)))
        (insert text)
        (let ((mode (assoc-default (linkspan--shown review :path) auto-mode-alist #'string-match-p)))
          (when (and (functionp mode) (or (provided-mode-derived-p mode 'text-mode) (provided-mode-derived-p mode 'prog-mode)))
            (ignore-errors (delay-mode-hooks (funcall mode)) (font-lock-mode))))
        (setq linkspan--here review linkspan--kind kind buffer-undo-list nil)
        (set-buffer-modified-p nil)
        (goto-char (point-min))
        (current-buffer))))

(defun linkspan--edit-buffer (review)
  "The buffer in which the user edits what REVIEW proposes."
  (when (linkspan--true (linkspan--shown review :omitted)) (user-error "This change is too large to be edited here"))
  (with-current-buffer (linkspan--side review 'edit (linkspan--review-proposed review))
    (linkspan-edit-mode)
    (unless linkspan--began (setq linkspan--began (linkspan--review-proposed review)))
    (setq header-line-format (string-replace "%" "%%" (concat " C-c C-c takes this text, C-c C-k drops it.  "
                                                              (linkspan--note review :edited))))
    (current-buffer)))

(defun linkspan-edit ()
  "Edit the proposed text, at the line at point."
  (interactive) (let ((review (linkspan--current)) (line (get-text-property (point) 'linkspan-line)))
    (pop-to-buffer-same-window (linkspan--edit-buffer review))
    (when (and line (not (buffer-modified-p))) (goto-char (point-min)) (forward-line (1- line)))))

(defun linkspan-ediff ()
  "Compare both texts with Ediff.  The proposed one can be changed there."
  (interactive) (let* ((review (linkspan--current)) (base (linkspan--lf (linkspan--shown review :base))))
    (ediff-buffers (with-current-buffer (linkspan--side review 'base base) (setq buffer-read-only t) (current-buffer))
                   (linkspan--edit-buffer review))))

(defun linkspan--send-edit (then)
  "Send the text of the current buffer to the hub, and call THEN."
  (let ((buffer (current-buffer)) (review linkspan--here) (text (buffer-substring-no-properties (point-min) (point-max))))
    (linkspan--request
     'review/edited (list :review (linkspan--id review) :revision (linkspan--shown review :revision)
                          :digest (linkspan--shown review :digest) :text text)
     (lambda (result)
       (if (not (equal (plist-get result :kind) "taken"))
           (linkspan--say "your text was not taken: %s changed.  C-c C-c again replaces it" (linkspan--file review))
         (linkspan--update review (map-merge 'plist (linkspan--review-shown review)
                                             (list :revision (plist-get result :revision) :digest (plist-get result :digest)
                                                   :hunks (plist-get result :hunks) :conflicts [] :proposed text)))
         (with-current-buffer buffer (set-buffer-modified-p nil) (setq linkspan--began text)))
       (funcall then)))))

(defun linkspan-edit-finish ()
  "Propose the text of this buffer instead, and go back to the diff."
  (interactive) (unless linkspan--here (user-error "This change is no longer pending"))
  (widen)
  (let ((review linkspan--here) (buffer (current-buffer)))
    (when (or (equal linkspan--began (linkspan--review-proposed review))
              (yes-or-no-p (format "%s changed while you were editing it.  Replace it by your text? " (linkspan--file review))))
      (linkspan--send-edit (lambda ()
                             (unless (or (buffer-modified-p buffer) (not (memq review linkspan--reviews)))
                               (quit-windows-on buffer t)
                               (when (buffer-live-p buffer) (kill-buffer buffer))
                               (linkspan--open review)))))))

(defun linkspan-edit-drop ()
  "Forget what was typed in this buffer."
  (interactive) (set-buffer-modified-p nil)
  (quit-window t))

(defun linkspan--send-edits ()
  "Send what the user edited last.  It comes back with the review."
  (let ((waiting 0) (end (+ (float-time) 2)))
    (dolist (review linkspan--reviews)
      (when-let ((buffer (linkspan--buffer-of review 'edit)))
        (with-current-buffer buffer
          (when (and (buffer-modified-p) (eq linkspan--state 'attached) (equal linkspan--began (linkspan--review-proposed review)))
            (cl-incf waiting)
            (linkspan--send-edit (lambda () (cl-decf waiting)))))))
    (while (and (> waiting 0) (< (float-time) end)) (accept-process-output nil 0.05))))

;;;; Lists

(define-derived-mode linkspan-list-mode tabulated-list-mode "Linkspan-List"
  "The pending changes: RET opens one, a and r decide."
  (setq tabulated-list-format [("File" 40 t) ("Agent" 20 t) ("Lines" 12 nil) ("Notes" 0 nil)]
        tabulated-list-entries #'linkspan--rows)
  (tabulated-list-init-header))

(defun linkspan--rows ()
  "A row for each pending change."
  (cl-loop for review in linkspan--reviews for shown = (linkspan--review-shown review)
           collect (list (plist-get shown :review)
                         (vector (linkspan--short (plist-get shown :path))
                                 (linkspan--plain (plist-get shown :agent))
                                 (cl-loop for hunk in (linkspan--hunks review) sum (plist-get hunk :afterCount) into added
                                          sum (plist-get hunk :beforeCount) into removed
                                          finally return (format "+%d -%d" added removed))
                                 (linkspan--plain (concat (and (linkspan--true (plist-get shown :newFile)) "new file  ")
                                                          (and (plist-get shown :set) (concat "set " (plist-get shown :set))) "  "
                                                          (and (linkspan--true (plist-get shown :ownerGone)) "agent gone")))))))

(dolist (binding '(("RET" . linkspan-open-row) ("a" . linkspan-accept) ("r" . linkspan-reject)
                   ("R" . linkspan-reject-with-reason) ("A" . linkspan-accept-all)))
  (define-key linkspan-list-mode-map (kbd (car binding)) (cdr binding)))

(defun linkspan-open-row ()
  "Look at the change at point."
  (interactive) (linkspan--open (linkspan--current)))

;;;###autoload
(defun linkspan-list ()
  "List every pending change."
  (interactive) (with-current-buffer (get-buffer-create "*linkspan reviews*")
    (linkspan-list-mode)
    (revert-buffer)
    (pop-to-buffer (current-buffer))))

(defun linkspan--undo (change)
  "Undo CHANGE, or redo it if it is an undo."
  (linkspan--request 'history/undo (list :change change)
                     (lambda (result)
                       (linkspan--say "undone: %s.  M-x linkspan-history can redo it" (linkspan--name (plist-get result :path)))
                       (linkspan--reread (plist-get result :path)))))

(defun linkspan--entries (undoable then)
  "Call THEN with the decisions of this window, or the UNDOABLE ones."
  (linkspan--request 'history/list (list :window (plist-get linkspan--window :window) :undoable undoable :limit 100)
                     (lambda (result) (funcall then (append (plist-get result :entries) nil)))))

(defun linkspan-undo ()
  "Undo the newest change of this window."
  (interactive) (linkspan--entries t (lambda (entries)
                         (if-let ((entry (car entries)))
                             (linkspan--undo (or (plist-get entry :change) (plist-get entry :review)))
                           (linkspan--say "this window has no change to undo")))))

(define-derived-mode linkspan-history-mode tabulated-list-mode "Linkspan-History"
  "What was decided: u undoes a change, or redoes it, and RET visits its file."
  (setq tabulated-list-format [("When" 13 nil) ("File" 40 t) ("Agent" 20 t) ("Outcome" 0 nil)])
  (tabulated-list-init-header))

(define-key linkspan-history-mode-map "u"
  (lambda () "Undo or redo the change at point." (interactive)
    (let ((entry (tabulated-list-get-id)))
      (if (linkspan--true (plist-get entry :undoable))
          (linkspan--undo (or (plist-get entry :change) (plist-get entry :review)))
        (user-error "This cannot be undone")))))
(define-key linkspan-history-mode-map (kbd "RET")
  (lambda () "Visit the file at point." (interactive) (find-file-other-window (linkspan--local (plist-get (tabulated-list-get-id) :path)))))

(defun linkspan-history ()
  "List the decisions of this window, newest first."
  (interactive)
  (linkspan--entries
   :json-false
   (lambda (entries)
     (with-current-buffer (get-buffer-create "*linkspan history*")
       (linkspan-history-mode)
       (setq tabulated-list-entries
             (cl-loop for entry in entries
                      collect (list entry
                                    (vector (format-time-string "%d %b %H:%M" (/ (plist-get entry :endedAtMs) 1000))
                                            (linkspan--short (plist-get entry :path))
                                            (linkspan--plain (plist-get entry :agent))
                                            (concat (if (plist-get entry :undoes) "undo" (linkspan--get entry :ended :kind))
                                                    (and (linkspan--true (plist-get entry :undone)) ", undone"))))))
       (revert-buffer)
       (pop-to-buffer (current-buffer))))))

;;;; Questions, messages and commands of agents

(linkspan--on status/message (text) (linkspan--say "%s" text) nil)

(linkspan--on user/ask (ask question)
  (unless (seq-find (lambda (each) (equal (plist-get each :ask) ask)) linkspan--questions)
    (setq linkspan--questions (append linkspan--questions (list params)))
    (linkspan--say "%s  M-x linkspan-answer" question))
  (linkspan--changed))

(linkspan--on user/unask (ask)
  (linkspan--close-question (seq-find (lambda (each) (equal (plist-get each :ask) ask)) linkspan--questions)))

(defvar-local linkspan--question nil "The question that this buffer shows.")
(defvar-local linkspan--opened 0 "When the user came here.")

(defun linkspan--close-question (question)
  "QUESTION is over."
  (setq linkspan--questions (delq question linkspan--questions))
  (when-let ((buffer (get-buffer "*linkspan question*")))
    (when (eq (buffer-local-value 'linkspan--question buffer) question)
      (quit-windows-on buffer t)
      (when (buffer-live-p buffer) (kill-buffer buffer))))
  (linkspan--changed))

(define-derived-mode linkspan-question-mode special-mode "Linkspan-Question"
  "What an agent asks: its number is an answer, and q decides nothing."
  (setq-local truncate-lines nil))

(dotimes (number 9) (define-key linkspan-question-mode-map (number-to-string (1+ number)) #'linkspan-answer-number))

;;;###autoload
(defun linkspan-answer ()
  "Show the oldest question of an agent, with all of what it would do."
  (interactive) (let ((question (or (car linkspan--questions) (user-error "No agent asks anything"))))
    (with-current-buffer (get-buffer-create "*linkspan question*")
      (linkspan-question-mode)
      (setq linkspan--question question linkspan--opened (float-time))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (linkspan--plain (plist-get question :question)) "\n\n" (linkspan--plain-lines (plist-get question :detail)) "\n\n")
        (cl-loop for option across (plist-get question :options) for number from 1
                 for label = (ignore-errors (aref (plist-get question :labels) (1- number)))
                 do (insert (format "  %d  %s\n" number (linkspan--plain (or label option)))))
        (insert "  q  Decide later\n")
        (goto-char (point-min)))
      (pop-to-buffer (current-buffer)))))

(defun linkspan-answer-number ()
  "Give the answer with the number of this key."
  (interactive)
  (let* ((question linkspan--question) (options (plist-get question :options)) (number (- last-command-event ?1)))
    (cond ((< (- (float-time) linkspan--opened) linkspan--misclick) (user-error "Not answered: read the question first"))
          ((not (< -1 number (length options))) (user-error "There is no such answer"))
          ((not (memq question linkspan--questions)) (user-error "That question is no longer pending")))
    (linkspan--request 'user/answered (list :ask (plist-get question :ask)
                                            :result (list :kind "answered" :option (aref options number)))
                       (lambda (result)
                         (unless (linkspan--true (plist-get result :taken))
                           (linkspan--say "that question is no longer pending"))))
    (linkspan--close-question question)))

(defvar linkspan--terminals nil "The buffers in which commands of agents run, by id.")
(defvar-local linkspan--command nil "Where the last command in this buffer began, and its process.")

(defun linkspan--terminal (id)
  "The buffer of terminal ID."
  (let ((buffer (cdr (assoc id linkspan--terminals))))
    (if (buffer-live-p buffer) buffer (linkspan--refuse -32016 "there is no terminal %s in this Emacs" id))))

(defun linkspan--make-terminal (cwd environment)
  "The id of a new terminal in CWD, with the variables of ENVIRONMENT."
  (let ((id (format "t%d" (1+ (length linkspan--terminals)))))
    (with-current-buffer (generate-new-buffer (format "*linkspan command %s*" id))
      (comint-mode)
      (setq default-directory (file-name-as-directory (linkspan--local (or cwd (car linkspan--folders) "/"))))
      (setq-local process-environment (append (cl-loop for (key value) on environment by #'cddr
                                                       collect (format "%s=%s" (substring (symbol-name key) 1) value))
                                              process-environment))
      (push (cons id (current-buffer)) linkspan--terminals))
    id))

(defun linkspan--result (id)
  "What the last command of terminal ID printed, and how it ended."
  (with-current-buffer (linkspan--terminal id)
    (pcase-let* ((`(,beg . ,process) linkspan--command) (running (and process (not (process-get process 'ended)))))
      (linkspan--object
       :output (if beg (ansi-color-filter-apply (buffer-substring-no-properties
                                                 (max beg (- (point-max) linkspan--max-text)) (point-max)))
                 "")
       :running (linkspan--bool running) :exitCode (and process (not running) (process-exit-status process))))))

(linkspan--on terminal/create (cwd environment) (list :terminal (linkspan--make-terminal cwd environment)))

(linkspan--on terminal/run (command cwd terminal timeoutMs)
  (let* ((id (or terminal (linkspan--make-terminal cwd nil))) (buffer (linkspan--terminal id)))
    (with-current-buffer buffer
      (when (process-live-p (cdr linkspan--command)) (linkspan--refuse -32014 "terminal %s still runs a command" id))
      (when cwd (setq default-directory (file-name-as-directory (linkspan--local cwd))))
      (setq linkspan--command (cons (point-max) nil))
      ;; Not the user's shell, which may be one that does not understand commands of agents.
      (comint-exec buffer (buffer-name) "sh" nil (list "-c" command))
      (let ((process (get-buffer-process buffer)))
        (setcdr linkspan--command process)
        (set-process-query-on-exit-flag process nil)
        ;; Only then it has printed everything.
        (set-process-sentinel process (lambda (process _) (unless (process-live-p process) (process-put process 'ended t)))))
      (linkspan--say "an agent runs a command in %s: %s" (buffer-name) command)
      (linkspan--later (/ timeoutMs 1000.0) (let ((process (cdr linkspan--command))) (lambda () (process-get process 'ended)))
                       (lambda () (let ((result (linkspan--result id)))
                                    (append (list :terminal id :timedOut (plist-get result :running)) result)))))))

(linkspan--on terminal/output (terminal) (linkspan--result terminal))

;;;; The mode

(defun linkspan--run (name)
  "Show what the command NAME of the program prints."
  (let ((command (or (linkspan--program name) (user-error "There is no program `%s'" linkspan-program)))
        (output (generate-new-buffer " *linkspan output*")) (default-directory "/"))
    (make-process :name "linkspan" :buffer output :command command :noquery t :connection-type 'pipe
                  :sentinel (lambda (_process _event)
                              (when (buffer-live-p output)
                                (linkspan--show-text (format "*linkspan %s*" name) (with-current-buffer output (buffer-string)))
                                (kill-buffer output))))))

;;;###autoload
(defun linkspan-doctor ()
  "Say how Emacs is connected, and have the program check everything else."
  (interactive)
  (linkspan--say "%s%s" linkspan--state
                 (if linkspan--why (concat ": " linkspan--why)
                   (format ", window %s, port %s, folders %s" (plist-get linkspan--window :window)
                           (plist-get linkspan--window :port) (string-join linkspan--folders ", "))))
  (linkspan--run "doctor"))

;;;###autoload
(defun linkspan-page ()
  "Show a link for reviewing in a browser."
  (interactive) (linkspan--run "page"))

(defun linkspan-restart ()
  "End the connection to the hub and begin another."
  (interactive)
  (unless linkspan-mode (linkspan-mode))
  (linkspan--stop)
  (linkspan--set-state 'starting)
  ;; The hub would see two windows if the next began before.
  (setq linkspan--timer (run-at-time 0.2 nil #'linkspan--start)))

(defun linkspan-status ()
  "Return the text for the mode line."
  (concat " Linkspan" (and (not (eq linkspan--state 'attached)) (format ":%s" linkspan--state))
          (and linkspan--reviews (format " %d" (length linkspan--reviews)))
          (and linkspan--questions (format " ?%d" (length linkspan--questions)))))

(defconst linkspan--hooks
  '((kill-emacs-hook . linkspan--send-edits) (find-file-hook . linkspan--documents-changed)
    (kill-buffer-hook . linkspan--documents-changed) (first-change-hook . linkspan--documents-changed)
    (after-save-hook . linkspan--documents-changed) (after-revert-hook . linkspan--documents-changed)
    (flycheck-after-syntax-check-hook . linkspan--reported))
  "What is called when something happens in Emacs.")

;;;###autoload
(define-minor-mode linkspan-mode
  "Review what coding agents propose, and let them see what is open here."
  :global t :lighter (:eval (linkspan-status))
  (when (eq linkspan--state 'attached)
    (linkspan--notify 'detach)
    (process-send-eof linkspan--process)
    ;; It ends when it has passed on what it was told.
    (with-timeout (2) (while (process-live-p linkspan--process) (accept-process-output nil 0.05))))
  (linkspan--stop)
  (linkspan--unset-variables)
  (linkspan--set-state 'off)
  (pcase-dolist (`(,hook . ,function) linkspan--hooks)
    (if linkspan-mode (add-hook hook function) (remove-hook hook function)))
  (remove-function after-focus-change-function #'linkspan--focus-changed)
  (advice-remove 'flymake--handle-report #'linkspan--reported)
  (when linkspan--idle (cancel-timer linkspan--idle))
  (setq linkspan--idle nil)
  (if (not linkspan-mode)
      (mapc #'linkspan--remove linkspan--reviews)
    (add-function :after after-focus-change-function #'linkspan--focus-changed)
    ;; No hook is run when flymake has finished.
    (advice-add 'flymake--handle-report :after #'linkspan--reported)
    (setq linkspan--idle (run-with-idle-timer 0.1 t #'linkspan--look))
    (linkspan--start)))

(provide 'linkspan)
;;; linkspan.el ends here
