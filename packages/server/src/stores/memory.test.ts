import { describeStore } from './contract.ts';
import { openMemoryStore } from './memory.ts';

describeStore('memory', openMemoryStore);
