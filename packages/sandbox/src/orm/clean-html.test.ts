import { expect, test } from 'vitest';
import { cleanHtml } from './clean-html.ts';

// Results as three real servers stored them.
test.each([
  ['', ''],
  [' ', ''],
  ['x', '<p>x</p>'],
  [' x ', '<p>x </p>'],
  ['a\nb', '<p>a\nb</p>'],
  ['a & b', '<p>a &amp; b</p>'],
  ['a &lt; b', '<p>a &lt; b</p>'],
  ['it\'s "q"', '<p>it\'s "q"</p>'],
  ['Hoi & <b>x</b>', '<p>Hoi &amp; <b>x</b></p>'],
  ['<b>x</b> y', '<span><b>x</b> y</span>'],
  ['<p>x</p>', '<p>x</p>'],
  ['<p></p>', '<p></p>'],
  ['<p>a</p>\n<p>b</p>', '<p>a</p>\n<p>b</p>'],
  ['<p style="color:red">x</p>', '<p style="color:red">x</p>'],
  ['<ul><li>a</li></ul>', '<ul><li>a</li></ul>'],
  ['<table><tr><td>1</td></tr></table>', '<table><tr><td>1</td></tr></table>'],
  ['<a href="https://a.example">l</a>', '<a href="https://a.example">l</a>'],
  ['<img src="a.png">', '<img src="a.png">'],
  ['<span>x</span>', '<span>x</span>'],
  ['<br>', '<br>'],
])('%j is stored as %j', (given, stored) => {
  expect(cleanHtml(given)).toBe(stored);
  expect(cleanHtml(stored)).toBe(stored);
});

// HTML that Odoo would change.
test.each([
  '<script>alert(1)</script>y',
  '<p onclick="x()">z</p>',
  '<a href="javascript:x()">l</a>',
  '<p>unclosed',
  '<p><b>crossed</p></b>',
  '<div>a</div>',
  '<div><p>a</p></div>',
  'a<p>b</p>',
  '<p><ul><li>a</li></ul></p>',
  '<br/>',
  '<custom>x</custom>',
  '<!-- c -->x',
  'a < b',
])('%j is refused', (given) => {
  expect(() => cleanHtml(given)).toThrow('The sandbox stores only HTML that Odoo does not repair or clean');
});
