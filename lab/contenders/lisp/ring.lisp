;;; The thread ring in Common Lisp on SBCL: one thread (a POSIX thread) a member, a semaphore a link.
;;;
;;; The token lies in an array beside the semaphores, as in the C program on POSIX threads.

(declaim (optimize (speed 2)))

(defun fail (status what given)
  (format *error-output* "~a: ~a~%" what given)
  (finish-output *error-output*)
  (sb-ext:exit :code status :abort t))

(defun number-of (text least)
  (let ((number (ignore-errors (parse-integer text))))
    (if (and number (>= number least))
        number
        (fail 2 "expected a larger whole number, got" text))))

(defun words ()
  "The command line without SBCL's part of it, which some versions leave in and some take out."
  (let ((script (member "--script" sb-ext:*posix-argv* :test #'equal)))
    (if script
        (cddr script)
        (rest sb-ext:*posix-argv*))))

(defun parse (words)
  "Threads, hops and order."
  (let ((threads 503) (hops 10000000) (order "forward"))
    (unless (and (equal (first words) "ring") (oddp (length words)))
      (fail 2 "expected" "ring [--option value]..."))
    (loop for (option value) on (rest words) by #'cddr
          do (cond ((equal option "--threads") (setf threads (number-of value 1)))
                   ((equal option "--hops") (setf hops (number-of value 0)))
                   ((equal option "--order") (setf order value))
                   (t (fail 2 "unknown option" option))))
    (unless (member order '("forward" "reverse" "shuffled") :test #'equal)
      (fail 2 "unknown order (forward, reverse, shuffled)" order))
    (values threads hops order)))

(defun creation-order (size name)
  "Fisher-Yates over splitmix64 with the seed that all contenders use."
  (let ((order (make-array size)) (state 503))
    (dotimes (k size)
      (setf (aref order k) (if (equal name "reverse") (- size 1 k) k)))
    (when (equal name "shuffled")
      (flet ((word (number) (ldb (byte 64 0) number))
             (mix (number shift) (logxor number (ash number (- shift)))))
        (loop for k from (1- size) downto 1
              do (setf state (word (+ state #x9e3779b97f4a7c15)))
                 (let* ((z (word (* (mix state 30) #xbf58476d1ce4e5b9)))
                        (z (word (* (mix z 27) #x94d049bb133111eb))))
                   (rotatef (aref order k) (aref order (mod (mix z 31) (1+ k))))))))
    order))

(defun run (size hops order)
  (declare (type fixnum size hops))
  (let ((tokens (make-array size :element-type 'fixnum))
        (signals (make-array size))
        (answer 0)
        (finished (sb-thread:make-semaphore)))
    (declare (type fixnum answer))
    (dotimes (i size)
      (setf (aref signals i) (sb-thread:make-semaphore)))
    (flet ((pass (id token)
             (setf (aref tokens id) token)
             (sb-thread:signal-semaphore (aref signals id))))
      (loop for id of-type fixnum across (creation-order size order)
            do (let ((id id) (right (mod (1+ id) size)))
                 (declare (type fixnum id right))
                 (sb-thread:make-thread
                  (lambda ()
                    (loop
                      (sb-thread:wait-on-semaphore (aref signals id))
                      (let ((token (aref tokens id)))
                        (when (zerop token)
                          (setf answer (1+ id))
                          (sb-thread:signal-semaphore finished)
                          (return))
                        (pass right (1- token))))))))
      (pass 0 hops)
      (sb-thread:wait-on-semaphore finished)
      answer)))

(handler-case
    (multiple-value-bind (size hops order) (parse (words))
      (format t "~d~%" (run size hops order))
      (finish-output)
      (format *error-output* "gc: *gc-run-time*=~d get-bytes-consed=~d~%"
              sb-ext:*gc-run-time* (sb-ext:get-bytes-consed))
      (finish-output *error-output*)
      ;; The other threads wait for ever: leave without unwinding them.
      (sb-ext:exit :code 0 :abort t))
  (serious-condition (condition)
    (fail 1 (type-of condition) (substitute #\Space #\Newline (princ-to-string condition)))))
