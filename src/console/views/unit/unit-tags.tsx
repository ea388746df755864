/** Values of a unit that no module has: of its programs, and of channels that are used as they are. */
import { useEffect, useState } from 'preact/hooks';
import { writeUnitTag } from '../../data/modules.js';
import { site, tagList, tagValue, watchTags } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { TagDescriptor } from '../../data/types.js';
import { t, words } from '../../common/strings.js';
import { tagText } from '../../common/tag-text.js';
import { CommandButton } from '../../plant/command-button.js';
import { WriteDialog } from './write-dialog.js';

const said = words({ en: { title: 'Of no module' }, de: { title: 'Ohne Modul' } });

/** The program, or the I/O module, that the value belongs to. */
function ownerOf({ address, name }: TagDescriptor): string {
  return address.endsWith(name) ? address.slice(0, -name.length - 1) : address;
}

export function UnitTags({ unit }: { readonly unit: string }) {
  const [writing, setWriting] = useState('');
  const tags = tagList.value.filter((tag) => tag.unit === unit && tag.controlModule === '');
  const addresses = tags.map(({ address }) => address.replace(/[*?[\]]/g, '?')).join('\n');
  useEffect(() => (addresses === '' ? undefined : watchTags(unit, addresses.split('\n'))), [unit, addresses, site.value]);
  if (tags.length === 0) return null;
  const open = tags.find(({ address }) => address === writing);
  return (
    <section class="graphic-group" aria-labelledby="unit-tags-title" data-testid="unit-tags">
      <h3 id="unit-tags-title">{said.title}</h3>
      <ul class="lines">
        {tags.map((tag) => (
          <li key={tag.address} class="line">
            <span class="line-name" title={tag.address}>
              {tag.name} <span class="hint">{ownerOf(tag)}</span>
            </span>
            <span class="line-value number live" data-testid={`line-${tag.address}`}>
              {tagText(tag, tagValue(unit, tag.address).value)}
            </span>
            {tag.accessLevel === 'readwrite' && (
              <CommandButton name={t.write} disabled={!can('tag:write')} onClick={() => setWriting(tag.address)} testid={`write-${tag.address}`} />
            )}
          </li>
        ))}
      </ul>
      {open && <WriteDialog tag={open} onWrite={(value) => writeUnitTag(unit, open.address, value)} onClose={() => setWriting('')} />}
    </section>
  );
}
