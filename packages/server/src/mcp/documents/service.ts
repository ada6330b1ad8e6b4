/** Runs in the thread: sends the text of the document that it was started with, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractText } from './extract-text.ts';

parentPort?.postMessage(await extractText(workerData as Uint8Array));
