/** What concerns a request as a whole: admission, pace, the form of answers. */
export { Admission } from './admission.ts';
export {
  buildErrorAnswer,
  buildResultHead,
  describeDenial,
  describeNullField,
  listDenialHeaders,
  NORMALIZED,
} from './envelope.ts';
export { ReadingPace } from './reading-pace.ts';
