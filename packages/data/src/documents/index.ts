/** Documents: reports of records as PDF. */
export { readDocument } from './read-document.ts';
export { sendDocument } from './send-document.ts';
