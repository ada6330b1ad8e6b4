/** Checks that the tables of steps in ARCHITECTURE.md equal the lists that run. */

import { createOperations, type OperationDeps } from '@erp-proxy/gateway/testing';
import { expect, test } from 'vitest';
import { readText } from './repository-files.ts';

/** Steps only store their dependencies until a call comes. */
const NO_DEPS = {} as OperationDeps;

const COLUMNS = { execute: 2, json2: 3, version: 4 };

test.each(['execute', 'json2', 'version'] as const)(
  'ARCHITECTURE.md lists the steps of %s in their order',
  (name) => {
    const rows = readText('ARCHITECTURE.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const listed = rows.filter((cells) => cells[COLUMNS[name]] === 'yes').map(([, step]) => step);
    const steps = createOperations(NO_DEPS)[name].steps.map((step) => `\`${step.name}\``);
    expect(listed).toEqual(steps);
  },
);
