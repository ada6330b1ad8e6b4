/** The only entry point of the package. */

export { type JsonDocument, readDocument } from './document.ts';
export { joinParts, removeMembers, setMembers } from './edit.ts';
export { locate } from './locate.ts';
export {
  findDuplicate,
  findExcess,
  findValue,
  isEmptyArray,
  readElements,
  readMembers,
  readMembersInSlices,
} from './members.ts';
export { readInteger } from './number.ts';
export { DuplicateMemberError, isObject, readValue } from './read-value.ts';
export { JsonDepthError, JsonSyntaxError, skipWhiteSpace } from './scan.ts';
export { isScalar, readKind, skipString, skipValue, skipValueInSlices } from './skip.ts';
export type { ByteRange, JsonKind, JsonMember, JsonSpan } from './span.ts';
export { decodeName, decodeString, decodeStringParts, findHalfSurrogate, viewAsBuffer } from './string.ts';
export { isWrittenAt, someMember, someName, someString } from './strings.ts';
