/** Texts as they are quoted. */
import t from 'tap';
import { shortText } from '../../../src/platform/base/short-text.js';

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
