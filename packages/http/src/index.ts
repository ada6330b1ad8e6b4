/** Creates the HTTP server, and makes it listen. */
export { CONSOLE_FOLDER } from './console/console-routes.ts';
export { ConnectionLimit, listen } from './listen.ts';
export { createServer } from './server.ts';
export { LoadShedder } from './shedding/load-shedder.ts';
