{-# LANGUAGE OverloadedStrings #-}

-- | A server of warp's. It prints its port and serves until a signal ends it.
--
-- `ghc_warp http|connect …`: the options are the client's own.
module Main (main) where

import Network.HTTP.Types (status200)
import Network.HTTP.Types.Header (hContentLength, hContentType)
import Network.Wai (Application, responseLBS)
import Network.Wai.Handler.Warp (defaultSettings, openFreePort, runSettingsSocket, setServerName)
import System.IO (hFlush, stdout)

main :: IO ()
main = do
  (port, listener) <- openFreePort
  putStrLn ("port " ++ show port)
  hFlush stdout
  -- It says no name, as the others; that it says a date cannot be helped.
  runSettingsSocket (setServerName mempty defaultSettings) listener reply

reply :: Application
reply _ respond = respond (responseLBS status200 headers body)
  where
    headers = [(hContentType, "text/plain"), (hContentLength, "32")]
    body = "The same 32 bytes for everybody\n"
