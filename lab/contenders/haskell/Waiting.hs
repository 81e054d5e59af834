{-# LANGUAGE CApiFFI #-}

-- | The workloads about waiting in GHC: forkIO threads, MVars, and the runtime's own timers.
--
-- The program is the same for every row; what differs is the linked runtime (-threaded or not) and
-- the runtime's options between +RTS and -RTS, which never reach 'getArgs'.
module Main (main) where

import Control.Concurrent
import Control.Monad (forM, forM_, replicateM, replicateM_, unless, when)
import Data.Bits (shiftL, shiftR, xor)
import Data.IORef
import Data.List (sort)
import Data.Word (Word64)
import Foreign.C.Types (CInt (..))
import qualified GHC.Arr as Array
import GHC.Clock (getMonotonicTimeNSec)
import qualified GHC.Event as Event
import GHC.Stats (RTSStats (..), getRTSStats, getRTSStatsEnabled)
import Numeric (showFFloat)
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitWith)
import System.IO (hFlush, hPutStrLn, stderr, stdout)
import System.Mem (performMinorGC)
import System.Posix.Process (exitImmediately)
import Text.Read (readMaybe)

foreign import ccall safe "hold_read" holdRead :: CInt -> IO CInt

foreign import ccall safe "hold_fault" holdFault :: CInt -> IO CInt

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
  unless (name `elem` known) $ refuse ("unknown option: " ++ name)

number :: Options -> String -> Int -> IO Int
number options name usual = case lookup name options of
  Nothing -> pure usual
  Just text -> case readMaybe text of
    Just value | value >= 1 -> pure value
    _ -> refuse ("expected a whole number of at least 1, got: " ++ text)

part :: Int -> Int -> Int -> Int
part total parts index = total `div` parts + fromEnum (index < total `mod` parts)

-- | Each thread waits on an MVar of its own. The last one that begins, and the last one that ends, tell.
park :: Options -> IO Int
park options = do
  only ["--threads"] options
  threads <- number options "--threads" 1000
  parked <- newIORef (0 :: Int)
  total <- newIORef (0 :: Int, 0 :: Int)
  allParked <- newEmptyMVar
  allWoken <- newEmptyMVar
  shots <- replicateM threads newEmptyMVar
  forM_ shots $ \shot -> forkIO $ do
    before <- atomicModifyIORef' parked (\n -> (n + 1, n + 1))
    when (before == threads) $ putMVar allParked ()
    value <- takeMVar shot
    woken <- atomicModifyIORef' total (\(n, s) -> let (m, t) = (n + 1, s + value) in m `seq` t `seq` ((m, t), m))
    when (woken == threads) $ putMVar allWoken ()
  takeMVar allParked
  forM_ (zip [0 ..] shots) $ \(value, shot) -> putMVar shot value
  takeMVar allWoken
  snd <$> readIORef total

-- | An MVar is the lock and what it guards.
mutex :: Options -> IO Int
mutex options = do
  only ["--section", "--sections", "--tasks"] options
  sections <- number options "--sections" 1000
  tasks <- number options "--tasks" 4
  lock <- newMVar (0 :: Int)
  let short = takeMVar lock >>= \before -> putMVar lock $! before + 1
      yielding = takeMVar lock >>= \before -> yield >> (putMVar lock $! before + 1)
  section <- case lookup "--section" options of
    Just "yield" -> pure yielding
    Just "short" -> pure short
    Nothing -> pure short
    Just other -> refuse ("unknown section (short, yield): " ++ other)
  ended <- forM [0 .. tasks - 1] $ \task -> do
    end <- newEmptyMVar
    _ <- forkIO $ replicateM_ (part sections tasks task) section >> putMVar end ()
    pure end
  mapM_ takeMVar ended
  takeMVar lock

step :: Word64 -> Word64
step s0 = s2 `xor` (s2 `shiftL` 17)
  where
    s1 = s0 `xor` (s0 `shiftL` 13)
    s2 = s1 `xor` (s1 `shiftR` 7)

-- | The runtime's timer manager, which only -threaded has. Who is cancelled cannot be told from who was due;
-- none is.
timers :: Options -> IO Int
timers options = do
  only ["--timers", "--live", "--idle-ms"] options
  count <- number options "--timers" 1000
  live <- number options "--live" 1000
  idle <- number options "--idle-ms" 1
  unless rtsSupportsBoundThreads $ refuse "no timers that can be cancelled: only the runtime of -threaded has them"
  manager <- Event.getSystemTimerManager
  fired <- newIORef (0 :: Int)
  let set random = Event.registerTimeout manager (ahead random) (modifyIORef' fired (+ 1))
      ahead random = (60 + fromIntegral (random `shiftR` 32 `mod` 3600)) * 1000000
      start = take live (tail (iterate step 1))
  first <- mapM set start
  pending <- newIORefArray live first
  let go 0 _ = pure ()
      go n before = do
        let random = step before
            slot = fromIntegral (random `mod` fromIntegral live)
        old <- readSlot pending slot
        Event.unregisterTimeout manager old
        set random >>= writeSlot pending slot
        go (n - 1 :: Int) random
  go count (last (1 : start))
  threadDelay (idle * 1000)
  (count -) <$> readIORef fired
  where
    newIORefArray n values = Array.listArray (0, n - 1) <$> mapM newIORef values
    readSlot slots index = readIORef (slots Array.! index)
    writeSlot slots index = writeIORef (slots Array.! index)

-- | A read and a fault in C, called as what may block is called (safe); the loop is in Haskell.
hostage :: Options -> IO Int
hostage options = do
  only ["--by", "--hostages", "--stuck-ms", "--times"] options
  count <- number options "--hostages" 2
  stuck <- number options "--stuck-ms" 1000
  times <- number options "--times" 1
  trouble <- newIORef (0 :: CInt)
  let called c = c (fromIntegral stuck) >>= \bad -> when (bad /= 0) $ writeIORef trouble bad
  hold <- case lookup "--by" options of
    Just "spin" -> pure (spin stuck)
    Just "fault" -> pure (called holdFault)
    Just "read" -> pure (called holdRead)
    Nothing -> pure (called holdRead)
    Just other -> refuse ("unknown way to hold up (read, spin, fault): " ++ other)
  when rtsSupportsBoundThreads $ setNumCapabilities count
  back <- newIORef (0 :: Int)
  answer <- newEmptyMVar
  _ <- forkIO $ do
    before <- forM [1 .. 50 :: Int] (const tick)
    replicateM_ count . forkIO $ do
      replicateM_ times (hold >> yield)
      atomicModifyIORef' back (\n -> (n + 1, ()))
    begun <- getMonotonicTimeNSec
    let until' = begun + fromIntegral (stuck * times + 450) * 1000000
        go so_far = do
          now <- getMonotonicTimeNSec
          returned <- readIORef back
          if now < until' || returned < count
            then tick >>= \late -> late `seq` go (late : so_far)
            else pure so_far
    go before >>= putMVar answer
  late <- takeMVar answer
  bad <- readIORef trouble
  when (bad /= 0) $ hPutStrLn stderr ("cannot be held up: errno " ++ show bad) >> exitWith (ExitFailure 1)
  say (sort late)
  readIORef back

-- | Sleeps once; the deadline counts from now on, so that one long hole is one late tick.
tick :: IO Double
tick = do
  begun <- getMonotonicTimeNSec
  threadDelay 1000
  ended <- getMonotonicTimeNSec
  pure $! fromIntegral (ended - begun) / 1e6 - 1

say :: [Double] -> IO ()
say late = do
  let ticks = length late
      at share = showFFloat (Just 4) (late !! (ceiling (share * fromIntegral ticks :: Double) - 1)) ""
  hPutStrLn stderr . unwords $
    [ "figures: ticks=" ++ show ticks,
      "late_ms_p50=" ++ at 0.5,
      "late_ms_p99=" ++ at 0.99,
      "late_ms_max=" ++ at 1
    ]

spin :: Int -> IO ()
spin stuck = do
  begun <- getMonotonicTimeNSec
  let until' = begun + fromIntegral stuck * 1000000
      go = getMonotonicTimeNSec >>= \now -> when (now < until') go
  go

main :: IO ()
main = do
  words' <- getArgs
  answer <- case words' of
    "park" : options -> parse options >>= park
    "mutex" : options -> parse options >>= mutex
    "timers" : options -> parse options >>= timers
    "hostage" : options -> parse options >>= hostage
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
