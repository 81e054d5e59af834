%% The workloads about channels in Erlang: a mailbox is the channel. It has no bound and one receiver.
%%
%% `WORKLOAD [--kind bare|otp] --option value ...`, after erl's -extra; `otp` has a gen_server as the receiver.
-module(erlang_channels).
-behaviour(gen_server).
-export([main/0]).
-export([init/1, handle_call/3, handle_cast/2]).

main() ->
    try
        [Workload | Words] = init:get_plain_arguments(),
        Options = options(Words),
        Answer = case Workload of
            "spsc" -> through(1, cast, Options);
            "mpsc" -> through(number("--senders", Options, 1), cast, Options);
            "rendezvous" -> through(1, call, Options);
            "pipe" -> trips(Options);
            "message-ring" -> message_ring(Options);
            "msgsend" -> msgsend(Options);
            _ -> refuse("unknown workload", Workload)
        end,
        io:format("~b~n", [Answer]),
        collections(),
        halt(0)
    catch
        throw:{refused, Line} -> stop(2, Line);
        Class:Reason -> stop(1, io_lib:format("~p: ~0p", [Class, Reason]))
    end.

stop(Status, Line) ->
    io:format(standard_error, "~ts~n", [Line]),
    halt(Status).

refuse(What, Given) -> throw({refused, [What, ": ", Given]}).

options([]) -> #{};
options([Name, Value | Rest]) -> (options(Rest))#{Name => Value};
options([Word]) -> refuse("an option without a value", Word).

number(Name, Options, Usual) ->
    case maps:find(Name, Options) of
        error -> Usual;
        {ok, Text} ->
            case string:to_integer(Text) of
                {Value, []} when Value >= 1 -> Value;
                _ -> refuse("expected a whole number of at least 1, got", Text)
            end
    end.

%% Together the senders send each number below Messages once. A mailbox is never closed, so the receiver counts.
through(Senders, How, Options) ->
    Messages = number("--messages", Options, 1000),
    {Receiver, Send} = receiver(maps:get("--kind", Options, "bare"), How, Messages),
    [spawn_link(fun() -> send(Receiver, Send, Sender, Senders, Messages) end)
     || Sender <- lists:seq(0, Senders - 1)],
    receive {sum, Sum} -> Sum end.

%% Who receives, and how one sends to it. What is waited for is a request and its answer: two messages.
receiver("bare", cast, Messages) ->
    Main = self(),
    {spawn_link(fun() -> Main ! {sum, sum(Messages, 0)} end), fun(To, Number) -> To ! Number end};
receiver("bare", call, Messages) ->
    Main = self(),
    {spawn_link(fun() -> Main ! {sum, taken(Messages, 0)} end), fun ask/2};
receiver("otp", cast, Messages) ->
    {ok, Server} = gen_server:start_link(?MODULE, {self(), Messages}, []),
    {Server, fun gen_server:cast/2};
receiver("otp", call, Messages) ->
    {ok, Server} = gen_server:start_link(?MODULE, {self(), Messages}, []),
    {Server, fun(To, Number) -> gen_server:call(To, Number, infinity) end};
receiver(Kind, _, _) -> refuse("unknown kind (bare, otp)", Kind).

%% A number to and fro; each way adds one. Between bare processes it is two messages, with a gen_server a call.
trips(Options) ->
    Trips = number("--trips", Options, 1000),
    Main = self(),
    {Other, Trip} = other(maps:get("--kind", Options, "bare")),
    spawn_link(fun() -> Main ! {sum, trips(Trips, Other, Trip, 0)} end),
    receive {sum, Number} -> Number end.

trips(0, _, _, Number) -> Number;
trips(Left, Other, Trip, Number) -> trips(Left - 1, Other, Trip, Trip(Other, Number) + 1).

other("bare") ->
    {spawn_link(fun answer/0), fun(To, Number) -> To ! {self(), Number}, receive {back, Back} -> Back end end};
other("otp") ->
    {ok, Server} = gen_server:start_link(?MODULE, trips, []),
    {Server, fun(To, Number) -> gen_server:call(To, Number, infinity) end};
other(Kind) -> refuse("unknown kind (bare, otp)", Kind).

answer() ->
    receive {From, Number} -> From ! {back, Number + 1} end,
    answer().

send(_, _, Number, _, Messages) when Number >= Messages -> ok;
send(To, Send, Number, Step, Messages) ->
    Send(To, Number),
    send(To, Send, Number + Step, Step, Messages).

%% The server counts, too. Between two requests nothing is calculated: whole numbers of 64 bits are no numbers of the
%% machine's here.
msgsend(Options) ->
    Requests = number("--requests", Options, 1000),
    Senders = number("--senders", Options, 4),
    case number("--interval", Options, 1) of
        1 -> ok;
        _ -> refuse("no interval but 1", "--interval")
    end,
    {Server, Send} = receiver(maps:get("--kind", Options, "bare"), cast, Requests),
    [spawn_link(fun() -> requests(Server, Send, part(Requests, Senders, Sender)) end)
     || Sender <- lists:seq(0, Senders - 1)],
    receive {sum, Sum} -> Sum end.

requests(_, _, 0) -> ok;
requests(Server, Send, Left) ->
    Send(Server, 100),
    requests(Server, Send, Left - 1).

%% Each process is told its neighbour, sends to it, receives, and so on.
message_ring(Options) ->
    Messages = number("--messages", Options, 1000),
    Tasks = number("--tasks", Options, 100),
    Main = self(),
    Begin = fun(Index) ->
        Sends = part(Messages, Tasks, Index),
        Receives = part(Messages, Tasks, (Index + Tasks - 1) rem Tasks),
        spawn_link(fun() -> receive {next, Next} -> Main ! {sum, member(Next, 0, Sends, Receives, 0)} end end)
    end,
    [First | Others] = All = [Begin(Index) || Index <- lists:seq(0, Tasks - 1)],
    lists:zipwith(fun(Pid, Next) -> Pid ! {next, Next} end, All, Others ++ [First]),
    lists:sum([receive {sum, Sum} -> Sum end || _ <- All]).

member(_, Number, Sends, Receives, Sum) when Number >= Sends, Number >= Receives -> Sum;
member(Next, Number, Sends, Receives, Sum) ->
    case Number < Sends of
        true -> Next ! {message, Number};
        false -> ok
    end,
    Received = case Number < Receives of
        true -> receive {message, Other} -> Other end;
        false -> 0
    end,
    member(Next, Number + 1, Sends, Receives, Sum + Received).

part(Total, Parts, Index) when Index < Total rem Parts -> Total div Parts + 1;
part(Total, Parts, _) -> Total div Parts.

ask(To, Number) ->
    Ref = make_ref(),
    To ! {take, self(), Ref, Number},
    receive {taken, Ref} -> ok end.

sum(0, Sum) -> Sum;
sum(Left, Sum) -> receive Number -> sum(Left - 1, Sum + Number) end.

taken(0, Sum) -> Sum;
taken(Left, Sum) ->
    receive {take, From, Ref, Number} ->
        From ! {taken, Ref},
        taken(Left - 1, Sum + Number)
    end.

%% The gen_server: whom to tell the sum, how many messages are to come, and the sum.
init(trips) -> {ok, trips};
init({Main, Messages}) -> {ok, {Main, Messages, 0}}.

handle_cast(Number, State) -> {noreply, add(Number, State)}.

handle_call(Number, _, trips) -> {reply, Number + 1, trips};
handle_call(Number, _, State) -> {reply, ok, add(Number, State)}.

add(Number, {Main, 1, Sum}) ->
    Main ! {sum, Sum + Number},
    {Main, 0, Sum + Number};
add(Number, {Main, Left, Sum}) -> {Main, Left - 1, Sum + Number}.

collections() ->
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    io:format(standard_error, "gc: Number_of_GCs=~b Words_Reclaimed=~b~n", [Collections, Words]).
