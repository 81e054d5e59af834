-- | The thread ring in GHC: one forkIO thread a member, one MVar a link.
--
-- The program is the same for every row; what differs is the linked runtime (-threaded or not) and
-- the runtime's options between +RTS and -RTS, which never reach 'getArgs'.
module Main (main) where

import Control.Concurrent (forkIO)
import Control.Concurrent.MVar (MVar, newEmptyMVar, putMVar, takeMVar)
import Control.Monad (foldM_, forM_, replicateM, when)
import Data.Array (Array, listArray, (!))
import Data.Array.ST (newListArray, readArray, runSTUArray, writeArray)
import Data.Array.Unboxed (UArray, elems)
import Data.Bits (shiftR, xor)
import Data.Word (Word64)
import Foreign.StablePtr (newStablePtr)
import GHC.Stats (RTSStats (..), getRTSStats, getRTSStatsEnabled)
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitWith)
import System.IO (hFlush, hPutStrLn, stderr, stdout)
import System.Mem (performMinorGC)
import System.Posix.Process (exitImmediately)
import Text.Read (readMaybe)

data Options = Options {threads :: Int, hops :: Int, order :: String}

-- | One line, and the status for a bad command line.
refuse :: String -> IO a
refuse line = hPutStrLn stderr line >> exitWith (ExitFailure 2)

parse :: [String] -> IO Options
parse ("ring" : options) = go (Options 503 10000000 "forward") options
  where
    go so_far [] = pure so_far
    go so_far ("--threads" : text : rest) = number 1 text >>= \n -> go so_far {threads = n} rest
    go so_far ("--hops" : text : rest) = number 0 text >>= \n -> go so_far {hops = n} rest
    go so_far ("--order" : text : rest)
      | text `elem` ["forward", "reverse", "shuffled"] = go so_far {order = text} rest
      | otherwise = refuse ("unknown order (forward, reverse, shuffled): " ++ text)
    go _ (word : _) = refuse ("unknown option, or one without a value: " ++ word)
parse words' = refuse ("unknown workload (this program knows: ring): " ++ unwords (take 1 words'))

number :: Integer -> String -> IO Int
number least text = case readMaybe text of
  Just value | value >= least, value <= toInteger (maxBound :: Int) -> pure (fromInteger value)
  _ -> refuse ("expected a whole number of at least " ++ show least ++ ", got: " ++ text)

-- | The order in which members are created, over splitmix64 with the seed that all contenders use.
creationOrder :: Int -> String -> UArray Int Int
creationOrder n name = runSTUArray $ do
  places <- newListArray (0, n - 1) (if name == "reverse" then [n - 1, n - 2 .. 0] else [0 .. n - 1])
  when (name == "shuffled") $ foldM_ (swap places) 503 [n - 1, n - 2 .. 1]
  pure places
  where
    swap places before k = do
      let state = before + 0x9e3779b97f4a7c15 :: Word64
          y = (state `xor` (state `shiftR` 30)) * 0xbf58476d1ce4e5b9
          z = (y `xor` (y `shiftR` 27)) * 0x94d049bb133111eb
          j = fromIntegral ((z `xor` (z `shiftR` 31)) `mod` fromIntegral (k + 1))
      here <- readArray places k
      there <- readArray places j
      writeArray places k there
      writeArray places j here
      pure $! state

-- | The token is made a number before it is passed on; otherwise a chain of subtractions would go
-- round the ring.
member :: MVar Int -> Int -> MVar Int -> MVar Int -> IO ()
member answer number' from to = loop
  where
    loop = do
      token <- takeMVar from
      if token == 0
        then putMVar answer number'
        else (putMVar to $! token - 1) >> loop

main :: IO ()
main = do
  options <- getArgs >>= parse
  let n = threads options
  links <- listArray (0, n - 1) <$> replicateM n newEmptyMVar :: IO (Array Int (MVar Int))
  answer <- newEmptyMVar
  forM_ (elems (creationOrder n (order options))) $ \i ->
    forkIO $ member answer (i + 1) (links ! i) (links ! ((i + 1) `mod` n))
  putMVar (links ! 0) (hops options)
  -- Otherwise the members that wait could be collected, each with an exception for it.
  _ <- newStablePtr links
  takeMVar answer >>= print
  hFlush stdout
  collections
  exitImmediately ExitSuccess -- the other members wait for ever; do not take them down one by one

-- | What -sstderr would say, under the names of GHC.Stats, which needs the runtime's option -T. The
-- figures are those of the last collection, so there is one more, a minor one.
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
