/** Links the SDK. Its evaluation is left to the next import of it, because the first module here stops this one. */
import './stop-evaluation.ts';
import '@modelcontextprotocol/server';
