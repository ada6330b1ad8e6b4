/** Types for the part of http-proxy that the benchmarks use. The package has none. */
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
