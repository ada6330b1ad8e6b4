/**
 * For tests: options of `expect.poll` for a condition that holds soon on an idle machine. Busy machines get more time.
 * Not for promises about time.
 */
export const POLL = { timeout: 15_000, interval: 20 };

/** The same for changes that watchers of a store are notified of: within a second on an idle machine. */
export const NOTIFIED = { timeout: 5000, interval: 10 };
