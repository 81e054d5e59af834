-- | The workloads about channels in GHC: forkIO threads, over an MVar, a Chan, or a bounded queue in transactional
-- memory.
--
-- The program is the same for every row; what differs is the linked runtime (-threaded or not), the runtime's options
-- between +RTS and -RTS, which never reach 'getArgs', and --kind.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM (atomically)
import Control.Concurrent.STM.TBQueue (newTBQueueIO, readTBQueue, writeTBQueue)
import Control.Monad (forM, forM_, unless, when)
import Data.Bits (shiftL, shiftR, xor)
import Data.Word (Word64)
import GHC.Stats (RTSStats (..), getRTSStats, getRTSStatsEnabled)
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitWith)
import System.IO (hFlush, hPutStrLn, stderr, stdout)
import System.Mem (performMinorGC)
import System.Posix.Process (exitImmediately)
import Text.Read (readMaybe)

-- | One line, and the status for a bad command line.
refuse :: String -> IO a
refuse line = hPutStrLn stderr line >> exitWith (ExitFailure 2)

type Options = [(String, String)]

parse :: [String] -> IO Options
parse [] = pure []
parse (name : value : rest) = ((name, value) :) <$> parse rest
parse [word] = refuse ("an option without a value: " ++ word)

only :: [String] -> Options -> IO ()
only known options = forM_ options $ \(name, _) ->
  unless (name `elem` ("--kind" : known)) $ refuse ("unknown option: " ++ name)

number :: Options -> String -> Int -> IO Int
number options name usual = case lookup name options of
  Nothing -> pure usual
  Just text -> case readMaybe text of
    Just value | value >= 1 -> pure value
    _ -> refuse ("expected a whole number of at least 1, got: " ++ text)

-- | How one sends and receives.
type Channel = (Int -> IO (), IO Int)

-- | Room for one, whatever was asked for.
mvar :: IO Channel
mvar = (\link -> (putMVar link, takeMVar link)) <$> newEmptyMVar

-- | As much room as there is memory, whatever was asked for.
chan :: IO Channel
chan = (\link -> (writeChan link, readChan link)) <$> newChan

tbqueue :: Int -> IO Channel
tbqueue capacity = do
  link <- newTBQueueIO (fromIntegral capacity)
  pure (atomically . writeTBQueue link, atomically (readTBQueue link))

-- | Who sends waits until the value has been taken.
meeting :: IO Channel
meeting = do
  (link, taken) <- (,) <$> newEmptyMVar <*> newEmptyMVar
  pure (\value -> putMVar link value >> takeMVar taken, takeMVar link >>= \value -> value <$ putMVar taken ())

-- | None of these can be closed.
end :: Int
end = -1

-- | Together the senders send each number below @messages@ once; the sum of what was received.
through :: Int -> Int -> Int -> Channel -> IO Int
through messages senders receivers (send, receive) = do
  sent <- forM [0 .. senders - 1] $ \sender -> do
    done <- newEmptyMVar
    let go n = when (n < messages) $ send n >> go (n + senders)
    _ <- forkIO $ go sender >> putMVar done ()
    pure done
  sums <- forM [1 .. receivers] $ \_ -> do
    result <- newEmptyMVar
    let go total = receive >>= \n -> if n == end then pure total else go $! total + n
    _ <- forkIO $ go 0 >>= \total -> total `seq` putMVar result total
    pure result
  mapM_ takeMVar sent
  mapM_ (const (send end)) sums
  sum <$> mapM takeMVar sums

part :: Int -> Int -> Int -> Int
part total parts index = total `div` parts + fromEnum (index < total `mod` parts)

-- | A number to and fro, each way adds one; a link has one direction, so there are two.
trips :: Options -> IO Int
trips options = do
  only ["--trips"] options
  count <- number options "--trips" 1000
  let one = channel (("--capacity", "1") : options)
  ((ping, pinged), (pong, ponged)) <- (,) <$> one <*> one
  result <- newEmptyMVar
  let answers = pinged >>= \n -> unless (n == end) $ pong (n + 1) >> answers
      asks 0 n = ping end >> putMVar result n
      asks left n = ping n >> ponged >>= \back -> asks (left - 1 :: Int) $! back + 1
  _ <- forkIO answers
  _ <- forkIO $ asks count 0
  takeMVar result

-- | Threads in a ring, each with a link to the next one: it sends, then receives, and so on.
messageRing :: Options -> IO Int
messageRing options = do
  only ["--messages", "--tasks"] options
  messages <- number options "--messages" 1000
  tasks <- number options "--tasks" 100
  links <- mapM (const (channel (("--capacity", "1") : options))) [1 .. tasks]
  sums <- forM (zip3 [0 ..] links (tail links ++ take 1 links)) $ \(index, (_, receive), (send, _)) -> do
    result <- newEmptyMVar
    let sends = part messages tasks index
        receives = part messages tasks ((index + tasks - 1) `mod` tasks)
        go n total
          | n >= sends && n >= receives = pure total
          | otherwise = do
              when (n < sends) $ send n
              received <- if n < receives then receive else pure 0
              let more = total + received
              more `seq` go (n + 1) more
    _ <- forkIO $ go 0 0 >>= putMVar result
    pure result
  sum <$> mapM takeMVar sums

-- | Senders whose requests a server adds up.
msgsend :: Options -> IO Int
msgsend options = do
  only ["--requests", "--senders", "--interval"] options
  requests <- number options "--requests" 1000
  senders <- number options "--senders" 4
  interval <- number options "--interval" 1
  (send, receive) <- channel options
  sent <- forM [0 .. senders - 1] $ \sender -> do
    done <- newEmptyMVar
    let go 0 state = pure state
        go left state = do
          let after = steps (interval - 1) state
          after `seq` send 100
          go (left - 1 :: Int) after
    _ <- forkIO $ go (part requests senders sender) (fromIntegral sender + 1) >>= putMVar done
    pure done
  bytes <- newEmptyMVar
  let serve total = receive >>= \n -> if n == end then putMVar bytes total else serve $! total + n
  _ <- forkIO $ serve 0
  mapM_ takeMVar sent
  send end
  takeMVar bytes

-- | Xorshift (Marsaglia 2003), as all contenders have it.
steps :: Int -> Word64 -> Word64
steps 0 state = state
steps left s0 = steps (left - 1) (s2 `xor` (s2 `shiftL` 17))
  where
    s1 = s0 `xor` (s0 `shiftL` 13)
    s2 = s1 `xor` (s1 `shiftR` 7)

channel :: Options -> IO Channel
channel options = do
  capacity <- number options "--capacity" 1024
  case lookup "--kind" options of
    Just "mvar" -> mvar
    Just "chan" -> chan
    Just "tbqueue" -> tbqueue capacity
    other -> refuse ("unknown kind (mvar, chan, tbqueue): " ++ show other)

spsc, mpsc, mpmc, rendezvous :: Options -> IO Int
spsc options = do
  only ["--messages", "--capacity"] options
  messages <- number options "--messages" 1000
  channel options >>= through messages 1 1
mpsc options = do
  only ["--messages", "--senders", "--capacity", "--receive"] options
  when (lookup "--receive" options == Just "many") $ refuse "it takes one message at a time"
  messages <- number options "--messages" 1000
  senders <- number options "--senders" 1
  channel options >>= through messages senders 1
mpmc options = do
  only ["--messages", "--senders", "--receivers", "--capacity"] options
  messages <- number options "--messages" 1000
  senders <- number options "--senders" 4
  receivers <- number options "--receivers" 4
  channel options >>= through messages senders receivers
rendezvous options = do
  only ["--messages"] options
  messages <- number options "--messages" 1000
  meeting >>= through messages 1 1

main :: IO ()
main = do
  words' <- getArgs
  answer <- case words' of
    "spsc" : options -> parse options >>= spsc
    "mpsc" : options -> parse options >>= mpsc
    "mpmc" : options -> parse options >>= mpmc
    "rendezvous" : options -> parse options >>= rendezvous
    "pipe" : options -> parse options >>= trips
    "message-ring" : options -> parse options >>= messageRing
    "msgsend" : options -> parse options >>= msgsend
    _ -> refuse ("unknown workload: " ++ unwords (take 1 words'))
  print answer
  hFlush stdout
  collections
  exitImmediately ExitSuccess

-- | What -sstderr would say; see Ring.hs.
collections :: IO ()
collections = do
  enabled <- getRTSStatsEnabled
  when enabled $ do
    performMinorGC
    s <- getRTSStats
    hPutStrLn stderr . unwords $
      "gc:"
        : [ name ++ "=" ++ value
          | (name, value) <-
              [ ("allocated_bytes", show (allocated_bytes s)),
                ("copied_bytes", show (copied_bytes s)),
                ("max_live_bytes", show (max_live_bytes s)),
                ("max_mem_in_use_bytes", show (max_mem_in_use_bytes s)),
                ("gcs", show (gcs s)),
                ("major_gcs", show (major_gcs s)),
                ("gc_cpu_ns", show (gc_cpu_ns s)),
                ("mutator_cpu_ns", show (mutator_cpu_ns s))
              ]
          ]
