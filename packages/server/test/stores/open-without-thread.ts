/** A program for tests that opens a store while it can start no thread, and prints what happened. */
import { spawnSync } from 'node:child_process';
import { openSqliteStore } from '@erp-proxy/stores/testing';

const [, , file = ''] = process.argv;
// Limits of processes do not apply to root.
if (process.getuid?.() === 0) process.setuid?.(65_534);
spawnSync('prlimit', ['--pid', `${process.pid}`, '--nproc=0']);
const opened = await openSqliteStore(file).catch(String);
process.stdout.write(`${typeof opened === 'string' ? opened : 'opened'}\n`);
