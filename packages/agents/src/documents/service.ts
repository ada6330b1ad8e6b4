/** Runs in the thread: extracts the text of the document that the thread was started with, sends it, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractText } from './extract-text.ts';

parentPort?.postMessage(await extractText(workerData as Uint8Array));
