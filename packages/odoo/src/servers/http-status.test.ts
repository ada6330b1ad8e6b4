import { expect, test } from 'vitest';
import {
  classifyStatus,
  isConclusive,
  isGatewayError,
  isRefusedBeforeRun,
  isRouteMissing,
} from './http-status.ts';

const STATUSES = Array.from({ length: 500 }, (_, index) => 100 + index);
const LOGIN = 'https://erp.example.com/odoo/web/login?redirect=%2Fjson';

function describeStatus(status: number, location?: string): string {
  const answer = { status, headers: { location } };
  const notes = [
    isConclusive(answer) && 'conclusive',
    isGatewayError(answer) && 'gateway error',
    isRouteMissing(answer) && 'route missing',
    isRefusedBeforeRun(answer) && 'not run',
  ];
  return [classifyStatus(answer), ...notes.filter(Boolean)].join(', ');
}

/** Statuses with the same description in one entry, as ranges. */
function groupByDescription(location?: string): Record<string, string> {
  const groups: Record<string, string> = {};
  let previous = '';
  for (const status of STATUSES) {
    const description = describeStatus(status, location);
    const ranges = groups[description];
    const before = ranges === undefined ? '' : `${ranges} `;
    groups[description] =
      description === previous ? ranges!.replace(/(\d+)(-\d+)?$/, `$1-${status}`) : `${before}${status}`;
    previous = description;
  }
  return groups;
}

const WITHOUT_LOCATION = {
  success: '200',
  unexpected: '100-199 201-299',
  'moved, route missing, not run': '301 308',
  'redirect, route missing': '300 302-307 309-399',
  'not_found, route missing, not run': '404',
  'blocked, route missing, not run': '403 405 410',
  'too_large, conclusive, not run': '413',
  'overloaded, conclusive, not run': '429',
  'client_error, not run': '400-402 406-409 411-412 414-428 430-499',
  'bad_gateway, conclusive, gateway error': '502 520-521 523 525-526 530',
  'unavailable, conclusive, gateway error': '503',
  'gateway_timeout, conclusive, gateway error': '504 522 524',
  server_error: '500-501 505-519 527-529 531-599',
};

test('each status has one class', () => {
  expect(groupByDescription()).toEqual(WITHOUT_LOCATION);
});

test('only 303 to the login page of Odoo is a login redirect', () => {
  expect(groupByDescription(LOGIN)).toEqual({
    ...WITHOUT_LOCATION,
    'login_redirect, route missing, not run': '303',
    'redirect, route missing': '300 302 304-307 309-399',
  });
  expect(groupByDescription('/web')).toEqual(WITHOUT_LOCATION);
  expect(groupByDescription('/web/login/x')).toEqual(WITHOUT_LOCATION);
});
