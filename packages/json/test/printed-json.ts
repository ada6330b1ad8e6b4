/** Random JSON texts for tests, each with the texts of its parts, which the spans must find again. */
import fc from 'fast-check';
import type { JsonKind } from '../src/span.ts';

export interface PrintedJson {
  kind: JsonKind;
  text: string;
  members: PrintedMember[];
  elements: PrintedJson[];
}

export interface PrintedMember {
  nameText: string;
  value: PrintedJson;
}

const whiteSpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

const hexDigits = fc.stringMatching(/^[0-9a-fA-F]{4}$/);

const stringText = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 8 }).map(escapeByRule),
      fc.string({ unit: 'binary', maxLength: 4 }).map(escapeByRule),
      fc.constantFrom(
        '\\"',
        '\\\\',
        '\\/',
        '\\b',
        '\\f',
        '\\n',
        '\\r',
        '\\t',
        '\u2028',
        '\u2029',
        '\u007f',
        '😀',
      ),
      hexDigits.map((digits) => `\\u${digits}`),
      fc.constantFrom('\\ud83d', '\\ude00', '\\uD83D\\uDE00', '\\u0000'),
      // A string that is long enough for the code paths of long strings.
      fc.integer({ min: 250, max: 530 }).map((length) => 'x'.repeat(length)),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => `"${pieces.join('')}"`);

const numberText = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,4})?$/);

const scalar = fc.oneof(
  fc.constantFrom<PrintedJson>(print('true', 'true'), print('false', 'false'), print('null', 'null')),
  numberText.map((text) => print('number', text)),
  stringText.map((text) => print('string', text)),
);

const { value } = fc.letrec<{ value: PrintedJson; array: PrintedJson; object: PrintedJson }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, tie('array'), tie('object')),
  array: fc
    .tuple(fc.array(fc.tuple(whiteSpace, tie('value'), whiteSpace), { maxLength: 5 }), whiteSpace)
    .map(printArray),
  object: fc
    .tuple(
      fc.array(fc.tuple(whiteSpace, nameText(), whiteSpace, whiteSpace, tie('value'), whiteSpace), {
        maxLength: 5,
      }),
      whiteSpace,
    )
    .map(printObject),
}));

export const printedJson: fc.Arbitrary<PrintedJson> = value;

/** An object at the root. */
export const printedObject: fc.Arbitrary<PrintedJson> = fc
  .tuple(
    fc.array(fc.tuple(whiteSpace, nameText(), whiteSpace, whiteSpace, value, whiteSpace), { maxLength: 8 }),
    whiteSpace,
  )
  .map(printObject);

/** A value with white space before and after it. */
export const printedDocument = fc
  .tuple(whiteSpace, fc.oneof(printedJson, printedObject), whiteSpace)
  .map(([before, root, after]) => ({ root, text: before + root.text + after }));

/** Names of members. Some are frequent, so that objects have duplicates, with equal and different escapes. */
function nameText(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom('"a"', '"\\u0061"', '"limit"', '"l\\u0069mit"', '""', '"é"'), stringText);
}

function print(kind: JsonKind, text: string): PrintedJson {
  return { kind, text, members: [], elements: [] };
}

function printArray([items, inside]: [[string, PrintedJson, string][], string]): PrintedJson {
  const texts = items.map(([before, element, after]) => before + element.text + after);
  const elements = items.map(([, element]) => element);
  return { ...print('array', `[${items.length > 0 ? texts.join(',') : inside}]`), elements };
}

type MemberParts = [string, string, string, string, PrintedJson, string];

function printObject([items, inside]: [MemberParts[], string]): PrintedJson {
  const texts = items.map(([a, name, b, c, member, d]) => `${a}${name}${b}:${c}${member.text}${d}`);
  const members = items.map(([, name, , , member]) => ({ nameText: name, value: member }));
  return { ...print('object', `{${items.length > 0 ? texts.join(',') : inside}}`), members };
}

function escapeByRule(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
