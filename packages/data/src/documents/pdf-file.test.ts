import { expect, test } from 'vitest';
import { describePdf, readDispositionName } from './pdf-file.ts';

test.each([
  ["attachment; filename*=UTF-8''Quotation-S00001.pdf", 'Quotation-S00001.pdf'],
  ["inline; filename=a.pdf; filename*=UTF-8''%C3%9Cber.pdf", 'Über.pdf'],
  ['attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
  ['attachment; filename=plain.pdf', 'plain.pdf'],
  ['attachment; filename*=UTF-8\'\'%ZZ; filename="b.pdf"', 'b.pdf'],
  ['attachment', null],
  ['', null],
])('the name in %s is %j', (header, expected) => {
  expect(readDispositionName(header)).toBe(expected);
});

test('a name gets the extension of a PDF', () => {
  expect(describePdf('Delivery')['content-disposition']).toBe('attachment; filename="Delivery.pdf"');
  expect(describePdf('a.PDF')['content-disposition']).toBe('attachment; filename="a.PDF"');
});
