/** Node ids as text: which of them are one node, and which spellings are taken. */
import t from 'tap';
import { checkChannelAddress, compareChannels } from '../../../runtime/catalog.js';

t.test('decisions 7.4: a node id has one spelling', async (t) => {
  const error = (text: string): string => {
    const checked = checkChannelAddress('opcua', 'input', text);
    return 'error' in checked ? checked.error : '';
  };
  const taken = ['i=85', 'ns=0;i=85', 'ns=65535;s=a', 'ns=2;g=ABCDEF01-1111-2222-3333-44444444444a', 'ns=2;b=YWI=', 'nsu=urn:plant:plc;s=a b|c', 's=Array|0'];
  for (const text of taken) t.equal(error(text), '', text);
  const others = [
    ['ns=02;s=a', 'ns=2;s=a'],
    ['i=05', 'i=5'],
    ['ns=2;b=YWI', 'ns=2;b=YWI='],
    ['ns=2;b=YWJ=', 'ns=2;b=YWI='],
    ['s=Array|02', 's=Array|2'],
  ];
  for (const [text = '', normal] of others) t.equal(error(text), `${text} is written ${normal}`);
  for (const text of ['i=4294967296', 'ns=65536;i=1', 'i=-1', 'b=A', 'g=1', 'RootFolder', ' i=5', 's=', 'nsu=;s=a']) t.match(error(text), /is not a node id/, text);
});

t.test('Q-UNIT-08: texts of one node are told from those of two', async (t) => {
  const guid = 'g=abcdef01-1111-2222-3333-44444444444a';
  const rows: readonly (readonly [a: string, b: string, relation: string])[] = [
    ['ns=2;s=a', 'ns=2;s=a', 'same'],
    ['ns=2;s=a', 'ns=02;s=a', 'same'],
    ['ns=2;s=a', 'ns=3;s=a', 'other'],
    ['ns=2;s=a', 'ns=2;s=A', 'other'],
    ['i=85', 'ns=0;i=085', 'same'],
    ['i=85', 'nsu=http://opcfoundation.org/UA/;i=85', 'same'],
    ['i=5', 's=5', 'other'],
    [`ns=2;${guid}`, `ns=2;${guid.toUpperCase().replace('G=', 'g=')}`, 'same'],
    ['ns=2;b=YWI', 'ns=2;b=YWJ=', 'same'],
    ['ns=2;s=a', 'nsu=urn:a;s=a', 'same'],
    ['nsu=urn:b;s=a', 'nsu=urn:a;s=a', 'other'],
    ['ns=2;s=a|2', 'ns=2;s=a', 'part'],
    ['nsu=urn:a;s=a', 'ns=2;s=a|2', 'part'],
    ['nsu=urn:a;s=a|2', 'ns=2;s=a|2', 'same'],
    ['nsu=urn:a;s=a|2', 'ns=2;s=a|3', 'other'],
    ['ns=3;s=a', 'ns=2;s=a|2', 'other'],
    ['ns=2;s=a|2', 'ns=2;s=a|02', 'same'],
    ['ns=2;s=a|2', 'ns=2;s=a|3', 'other'],
    ['nothing', 'ns=2;s=a', 'other'],
  ];
  for (const [a, b, relation] of rows) {
    t.equal(compareChannels('opcua', a, b), relation, `${a} ~ ${b}`);
    t.equal(compareChannels('opcua', b, a), relation, `${b} ~ ${a}`);
  }
  t.equal(compareChannels('modbus', 'holding:1', 'holding:1'), 'same');
  t.equal(compareChannels('modbus', 'holding:1', 'holding:2'), 'other');
});
