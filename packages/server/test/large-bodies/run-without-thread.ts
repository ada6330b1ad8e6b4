/** A program that runs a task while it can start no thread, and prints the result. */
import { spawnSync } from 'node:child_process';
import { Denial } from '@erp-proxy/gateway/terms';
import { runInThread } from '@erp-proxy/gateway/testing';

// Limits of processes do not apply to root.
if (process.getuid?.() === 0) process.setuid?.(65_534);
spawnSync('prlimit', ['--pid', `${process.pid}`, '--nproc=0']);
const { signal } = new AbortController();
const run = (text: string) => runInThread('parseDocument', [Buffer.from(text), 10], text.length, signal);
const found = await Promise.all([run('[1]'), run('[1'), run('[2]')]);
process.stdout.write(found.map((result) => (result instanceof Denial ? result.type : 'parsed')).join());
