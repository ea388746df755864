/** A new account: its name, what it may do, and the password that opens it the first time. */
import { useState } from 'preact/hooks';
import { USERS } from '../../data/access.js';
import { post } from '../../data/api.js';
import { Field } from '../../common/field.js';
import { t } from '../../common/strings.js';
import { Check } from '../../parts/check.js';
import { Confirm } from '../../parts/confirm.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { GroupFields } from './group-fields.js';
import { PasswordField, proposedPassword } from './password-field.js';
import { text } from './people-words.js';

export function NewPerson({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const [username, setUsername] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [groups, setGroups] = useState<readonly string[]>([]);
  const [password, setPassword] = useState(proposedPassword);
  const [mustChangePassword, setMustChange] = useState(true);
  const [isMade, setMade] = useState(false);
  const send = async (): Promise<void> => {
    await post(USERS, { username: username.trim(), displayName: displayName.trim(), password, groups, mustChangePassword });
    onMade();
  };
  if (isMade) return <ShownOnce title={displayName} hint={text.told(displayName)} secret={password} testid="person-password-shown" onClose={onClose} />;
  return (
    <Confirm
      title={text.create}
      text={text.createText}
      verb={text.createVerb}
      testid="person-new"
      judge={() => (username.trim() === '' || displayName.trim() === '' || password === '' ? t.fillIn : '')}
      onSend={send}
      onSent={() => setMade(true)}
      onClose={onClose}
    >
      <Field id="person-display-name" label={t.displayName} value={displayName} onInput={setDisplayName} autoFocus />
      <Field id="person-username" label={t.username} value={username} onInput={setUsername} hint={text.usernameRule} />
      <GroupFields groups={groups} onChange={setGroups} />
      <PasswordField label={text.password} value={password} onInput={setPassword} />
      <Check id="person-must-change" label={text.mustChangeAtFirst} isOn={mustChangePassword} onChange={setMustChange} />
    </Confirm>
  );
}
