/** The only entry point of the package. */
export { splitHeaderLines, trimBlanks } from './header-lines.ts';
export { readHttpDate } from './http-date.ts';
export {
  type AddressBlock,
  type AddressBytes,
  IPV4_MAPPED,
  isInBlock,
  parseAddress,
  parseBlock,
} from './ip-address.ts';
export { findNearestName, findNearestNames, findNearestOfMany } from './nearest.ts';
export { printTime } from './print-time.ts';
export { readTime, TIME_FORM } from './read-time.ts';
