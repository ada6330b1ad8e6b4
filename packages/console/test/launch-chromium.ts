import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { CHROMIUM } from '../../server/test/chromium.ts';

/** How long a page may take for each step. Pages are slow on a busy machine. */
export const PATIENCE_MS = 60_000;

let shared: Promise<Browser> | null = null;

/** Starts Debian's Chromium without a window. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({
    ...options,
    executablePath: `/usr/bin/${CHROMIUM}`,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}

/** One Chromium for all test files of this worker. It ends with the worker, which vitest ends by a signal. */
export function shareChromium(): Promise<Browser> {
  if (shared === null) {
    shared = launchChromium({ handleSIGTERM: false });
    // Makes the process exit on the signal, because Playwright then kills Chromium and removes its folder.
    process.once('SIGTERM', () => process.exit());
  }
  return shared;
}
