/** The state of one upstream database at a scrape. */
export interface DatabaseMetrics {
  database: string;
  running: number;
  waiting: number;
  backgroundRunning: number;
  backgroundWaiting: number;
  /** Current concurrency limit. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
}
