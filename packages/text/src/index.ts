/** The only entry point of the package. */
export { escapeHtml } from './escape-html.ts';
export { splitHeaderLines, trimBlanks } from './header-lines.ts';
export {
  type AddressBlock,
  type AddressBytes,
  IPV4_MAPPED,
  isInBlock,
  parseAddress,
  parseBlock,
} from './ip-address.ts';
export { findNearestName, findNearestNames, findNearestOfMany } from './nearest.ts';
export { printTime, readHttpDate, readTime, TIME_FORM } from './times.ts';
