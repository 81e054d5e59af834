(* Synchronised variables on Lwt in three forms. What waits is a promise that someone else fulfils.

   A put that finds a reader waiting gives it the value and leaves the variable empty; [Lwt.wakeup_later] then runs
   the reader before the putter goes on, or queues it while Lwt is running callbacks already, as it is in the ring:
   the ring does not grow the stack. *)

module type Waiting = sig
  type 'a t

  val create : unit -> 'a t
  val take : 'a t -> 'a Lwt.t
  val put : 'a t -> 'a -> unit Lwt.t
end

module type Relaxed = sig
  type 'a t

  val create : unit -> 'a t
  val take : 'a t -> 'a Lwt.t
  val put : 'a t -> 'a -> unit
end

(* A put waits while the variable is full; both sides wait in the order in which they came. *)
module Full : Waiting = struct
  type 'a t = {
    mutable value : 'a option;
    readers : 'a Lwt.u Queue.t;
    writers : ('a * unit Lwt.u) Queue.t;
  }

  let create () = { value = None; readers = Queue.create (); writers = Queue.create () }

  let take v =
    match v.value with
    | None ->
        let promise, reader = Lwt.wait () in
        Queue.add reader v.readers;
        promise
    | Some x ->
        (match Queue.take_opt v.writers with
        | None -> v.value <- None
        | Some (next, writer) ->
            v.value <- Some next;
            Lwt.wakeup_later writer ());
        Lwt.return x

  let put v x =
    match v.value with
    | Some _ ->
        let promise, writer = Lwt.wait () in
        Queue.add (x, writer) v.writers;
        promise
    | None ->
        (match Queue.take_opt v.readers with
        | None -> v.value <- Some x
        | Some reader -> Lwt.wakeup_later reader x);
        Lwt.return_unit
end

(* A put never waits, so that it need not be a promise; what the variable held is lost. *)
module Relaxed_queue : Relaxed = struct
  type 'a t = { mutable value : 'a option; readers : 'a Lwt.u Queue.t }

  let create () = { value = None; readers = Queue.create () }

  let take v =
    match v.value with
    | None ->
        let promise, reader = Lwt.wait () in
        Queue.add reader v.readers;
        promise
    | Some x ->
        v.value <- None;
        Lwt.return x

  let put v x =
    match Queue.take_opt v.readers with
    | None -> v.value <- Some x
    | Some reader -> Lwt.wakeup_later reader x
end

(* The same with a list instead of a queue, as the seed has it: whoever waited last is served first. *)
module Relaxed_list : Relaxed = struct
  type 'a t = { mutable value : 'a option; mutable readers : 'a Lwt.u list }

  let create () = { value = None; readers = [] }

  let take v =
    match v.value with
    | None ->
        let promise, reader = Lwt.wait () in
        v.readers <- reader :: v.readers;
        promise
    | Some x ->
        v.value <- None;
        Lwt.return x

  let put v x =
    match v.readers with
    | [] -> v.value <- Some x
    | reader :: others ->
        v.readers <- others;
        Lwt.wakeup_later reader x
end
