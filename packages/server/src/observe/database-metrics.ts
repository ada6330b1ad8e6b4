/** The state of one upstream database at a scrape. */
export interface DatabaseMetrics {
  database: string;
  running: number;
  waiting: number;
  /** Current concurrency limit. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
}
