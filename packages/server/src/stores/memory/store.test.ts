import { describeStore } from '../../../test/stores/store-suite.ts';
import { openMemoryStore } from './store.ts';

describeStore({ name: 'memory', open: openMemoryStore });
