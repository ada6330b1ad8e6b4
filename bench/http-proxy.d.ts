/** The little that the bench uses of http-proxy, which brings no types. */
declare module 'http-proxy' {
  import type { Agent, IncomingMessage, ServerResponse } from 'node:http';

  interface ProxyServer {
    web(request: IncomingMessage, response: ServerResponse): void;
    on(
      event: 'error',
      listener: (error: Error, request: IncomingMessage, response: ServerResponse) => void,
    ): void;
  }
  const httpProxy: { createProxyServer(options: { target: string; agent: Agent }): ProxyServer };
  export default httpProxy;
}
