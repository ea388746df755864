/** Texts as they are quoted. */
import t from 'tap';
import { asUnicodeText, cutText, shortText } from '../../../src/platform/base/short-text.js';

t.test('a text that is too long ends in dots and is as long as it may be; no character is cut in half', (t) => {
  for (const [text, short] of [
    ['', ''],
    ['abcdefgh', 'abcdefgh'],
    ['abcdefghi', 'abcde...'],
    ['abcd\u{1F9EA}\u{1F9EA}\u{1F9EA}', 'abcd...'],
  ] as const)
    t.equal(shortText(text, 8), short);
  t.end();
});

t.test('what is cut of a text, or is none, is never kept as half a character', (t) => {
  t.equal(cutText('abc\u{1F9EA}', 4), 'abc');
  t.equal(cutText('abc\u{1F9EA}', 5), 'abc\u{1F9EA}');
  t.equal(asUnicodeText('abc\u{1F9EA}'), 'abc\u{1F9EA}');
  t.equal(asUnicodeText('abc\ud83d'), 'abc\ufffd');
  t.end();
});
