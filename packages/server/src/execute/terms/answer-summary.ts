/** How a call was answered, for its record. */
export interface AnswerSummary {
  /** `ok`, `replayed`, `data.type` of the error, or `broken_off` if the connection was closed during the answer. */
  type: string;
  /** `error.code`; null for a result. */
  code: number | null;
  httpStatus: number;
  /** The rule of a policy that denied the call. */
  rule?: string;
  /** The cause, for the log. */
  detail?: string;
}
