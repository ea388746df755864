/** Roles and sites of an account, each to be ticked: nobody types the name of a group. */
import { useEffect, useState } from 'preact/hooks';
import { readPolicy } from '../../data/access.js';
import { sites } from '../../data/plant.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { roleText, siteGroup } from '../../common/role-text.js';
import { Check } from '../../parts/check.js';
import { text } from './people-words.js';

export interface GroupFieldsProps {
  readonly groups: readonly string[];
  readonly onChange: (groups: readonly string[]) => void;
}

export function GroupFields({ groups, onChange }: GroupFieldsProps) {
  const [roles, setRoles] = useState<readonly string[]>([]);
  const [fault, setFault] = useState('');
  useEffect(() => {
    readPolicy().then(
      (policy) => setRoles(policy.roles.map(({ group }) => group)),
      (refused: unknown) => setFault(faultText(refused)),
    );
  }, []);
  const ofSites = sites.value.map((site) => ({ group: siteGroup(site), name: site }));
  const offered = [...roles, ...ofSites.map(({ group }) => group)];
  const kept = groups.filter((group) => !offered.includes(group)); // of a site that has gone
  const tick = (group: string) => (is: boolean) => onChange(is ? [...groups, group] : groups.filter((each) => each !== group));
  const box = (group: string, label: string) => <Check key={group} id={`group-${group}`} label={label} isOn={groups.includes(group)} onChange={tick(group)} />;
  return (
    <>
      <ReadFault text={fault} />
      <fieldset class="checks">
        <legend>{text.roles}</legend>
        {roles.map((group) => box(group, roleText(group)))}
        {roles.length > 0 && kept.map((group) => box(group, group))}
      </fieldset>
      <fieldset class="checks">
        <legend>
          {text.sites} <span class="hint">{text.siteHint}</span>
        </legend>
        {ofSites.map(({ group, name }) => box(group, name))}
      </fieldset>
    </>
  );
}
