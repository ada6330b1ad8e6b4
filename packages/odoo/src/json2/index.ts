/** The protocol of `/json/2`: requests, answers and the conversion of calls to it. */
export { classifyJson2Answer, isJson2Result } from './json2-answer.ts';
export { buildDocPageRequest, buildJson2Request, HEADER_WORD, isApiKeyShaped } from './json2-request.ts';
export { type ResultShape, unwrapOne } from './json2-result.ts';
export { buildUserRequest, readUserId } from './json2-user.ts';
export { type MappedCall, mapCall } from './map-call.ts';
