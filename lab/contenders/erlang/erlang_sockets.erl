%% Servers in Erlang: `erlang_sockets http|connect|echo --kind bare|inets …`, after erl's -extra. Each prints its port and
%% serves until a signal ends it; other options are the client's own.
%%
%% bare: a process a connection, whose socket sends it a message when something has come ({active, once}), so that it has
%% no buffer while it waits. inets: the server of that application, with this module as its only one.
-module(erlang_sockets).
-export([main/0, do/1]).

-define(BODY, "The same 32 bytes for everybody\n").
-define(REPLY, <<"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\n" ?BODY>>).

main() ->
    case init:get_plain_arguments() of
        [Talk, "--kind", "bare" | _] -> bare(Talk);
        [_, "--kind", "inets" | _] -> inets();
        _ -> io:format(standard_error, "expected WORKLOAD --kind bare|inets~n", []), halt(2)
    end.

listens_at(Port) -> io:format("port ~b~n", [Port]).

bare(Talk) ->
    Options = [binary, {active, false}, {ip, {127, 0, 0, 1}}, {backlog, 1024}, {nodelay, true}],
    {ok, Listener} = gen_tcp:listen(0, Options),
    {ok, Port} = inet:port(Listener),
    listens_at(Port),
    accept(Listener, Talk).

accept(Listener, Talk) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Handler = spawn(fun() -> receive start -> serve(Socket, Talk, 0) end end),
    ok = gen_tcp:controlling_process(Socket, Handler),
    Handler ! start,
    accept(Listener, Talk).

%% Seen is how much of the end of a request's head there was.
serve(Socket, Talk, Seen) ->
    _ = inet:setopts(Socket, [{active, once}]),
    receive
        {tcp, Socket, Bytes} when Talk =:= "echo" ->
            _ = gen_tcp:send(Socket, Bytes),
            serve(Socket, Talk, 0);
        {tcp, Socket, Bytes} ->
            {Ends, Now} = ends(Bytes, Seen, 0),
            reply(Socket, Ends),
            case Talk of
                "connect" when Ends > 0 -> gen_tcp:close(Socket);
                _ -> serve(Socket, Talk, Now)
            end;
        _ ->
            gen_tcp:close(Socket)
    end.

reply(_, 0) -> ok;
reply(Socket, Ends) ->
    _ = gen_tcp:send(Socket, ?REPLY),
    reply(Socket, Ends - 1).

ends(<<>>, Seen, Ends) -> {Ends, Seen};
ends(<<$\n, Rest/binary>>, 3, Ends) -> ends(Rest, 0, Ends + 1);
ends(<<$\n, Rest/binary>>, 1, Ends) -> ends(Rest, 2, Ends);
ends(<<$\r, Rest/binary>>, 2, Ends) -> ends(Rest, 3, Ends);
ends(<<$\r, Rest/binary>>, _, Ends) -> ends(Rest, 1, Ends);
ends(<<_, Rest/binary>>, _, Ends) -> ends(Rest, 0, Ends).

inets() ->
    ok = application:start(inets),
    Options = [
        {port, 0}, {bind_address, {127, 0, 0, 1}}, {server_name, "lab"}, {server_root, "."}, {document_root, "."},
        {modules, [?MODULE]}, {max_clients, 30000}, {server_tokens, none},
        {socket_type, {ip_comm, [{nodelay, true}]}}
    ],
    {ok, Server} = inets:start(httpd, Options),
    [{port, Port}] = httpd:info(Server, [port]),
    listens_at(Port),
    receive never -> ok end.

%% What httpd calls for each request.
do(_) ->
    Head = [{code, 200}, {content_type, "text/plain"}, {content_length, "32"}],
    {proceed, [{response, {response, Head, ?BODY}}]}.
