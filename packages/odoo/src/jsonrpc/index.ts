/** The protocol of `/jsonrpc`: requests and answers. */
export { buildExecuteKw, matchResultHead } from './jsonrpc.ts';
export { buildSignIn, readSignIn } from './sign-in.ts';
