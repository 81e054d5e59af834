%% The thread ring in Erlang: one process a member, its mailbox is the link.
%%
%% `ring ring --threads N --hops H --order forward|reverse|shuffled`, after erl's -extra.
-module(erlang_ring).
-export([main/0]).

main() ->
    try
        {Threads, Hops, Order} = options(init:get_plain_arguments()),
        io:format("~b~n", [ring(Threads, Hops, Order)]),
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

options(["ring" | Words]) -> options(Words, {503, 10000000, "forward"});
options(Words) -> refuse("unknown workload (this program knows: ring)", lists:join(" ", Words)).

options([], Options) -> Options;
options(["--threads", Text | Rest], {_, H, O}) -> options(Rest, {number(1, Text), H, O});
options(["--hops", Text | Rest], {T, _, O}) -> options(Rest, {T, number(0, Text), O});
options(["--order", Text | Rest], {T, H, _}) ->
    lists:member(Text, ["forward", "reverse", "shuffled"])
        orelse refuse("unknown order (forward, reverse, shuffled)", Text),
    options(Rest, {T, H, Text});
options([Word | _], _) -> refuse("unknown option, or one without a value", Word).

number(Least, Text) ->
    case string:to_integer(Text) of
        {Value, []} when Value >= Least -> Value;
        _ -> refuse(io_lib:format("expected a whole number of at least ~b, got", [Least]), Text)
    end.

%% A process cannot be told its neighbour when it is created, in whatever order: it does not exist
%% yet, or it has its number only then. So each is told afterwards, which is a message more a member.
ring(Threads, Hops, Order) ->
    Main = self(),
    Created = [{Number, spawn(fun() -> member(Main, Number) end)} || Number <- order(Threads, Order)],
    Members = [Pid || {_, Pid} <- lists:sort(Created)],
    introduce(Members, hd(Members)),
    hd(Members) ! Hops,
    receive {answer, Number} -> Number end.

introduce([Last], First) -> Last ! {next, First};
introduce([Member | [Next | _] = Rest], First) ->
    Member ! {next, Next},
    introduce(Rest, First).

member(Main, Number) ->
    receive {next, Next} -> member(Main, Number, Next) end.

member(Main, Number, Next) ->
    receive
        0 -> Main ! {answer, Number};
        Token ->
            Next ! Token - 1,
            member(Main, Number, Next)
    end.

%% The order in which members are created, over splitmix64 with the seed that all contenders use. A
%% map holds only what has been swapped, and `Taken` what is behind the place that is to be filled.
order(N, "forward") -> lists:seq(1, N);
order(N, "reverse") -> lists:seq(N, 1, -1);
order(N, "shuffled") -> shuffle(N - 1, 503, #{}, []).

shuffle(-1, _, _, Taken) -> Taken;
shuffle(0, State, Swapped, Taken) -> shuffle(-1, State, Swapped, [maps:get(0, Swapped, 0) + 1 | Taken]);
shuffle(K, Before, Swapped, Taken) ->
    State = word(Before + 16#9e3779b97f4a7c15),
    Y = word((State bxor (State bsr 30)) * 16#bf58476d1ce4e5b9),
    Z = word((Y bxor (Y bsr 27)) * 16#94d049bb133111eb),
    J = (Z bxor (Z bsr 31)) rem (K + 1),
    There = maps:get(J, Swapped, J),
    Here = maps:get(K, Swapped, K),
    shuffle(K - 1, State, maps:remove(K, Swapped#{J => Here}), [There + 1 | Taken]).

word(Number) -> Number band 16#ffffffffffffffff.

%% The third figure of statistics(garbage_collection) is always 0.
collections() ->
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    io:format(standard_error, "gc: Number_of_GCs=~b Words_Reclaimed=~b~n", [Collections, Words]).
