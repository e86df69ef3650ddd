import * as React from 'react';

import { Button } from '../../views/button';
import { Icon } from '../../views/icon';
import { useTrans } from '../../views/scope';
import type { AssistantForm, FormState } from './assistant_form';
import { FIELDS } from './draft';
import { fieldWords } from './words';

interface ConflictNoteProps {
  readonly form: AssistantForm;
  readonly state: FormState;
}

/** That the file is not what it was, and what becomes of what was typed. */
export function ConflictNote({ form, state }: ConflictNoteProps) {
  const trans = useTrans();
  const contested = FIELDS.filter(field => field in state.theirs);
  if (state.conflict === '') {
    return contested.length === 0 ? null : (
      <FieldConflict isAlert={false}>
        {trans.__(
          'Changed here and in the file: %1. What you typed counts when you save.',
          contested.map(field => fieldWords(field, trans)).join(', ')
        )}
      </FieldConflict>
    );
  }
  return state.conflict === 'gone' ? (
    <FieldConflict isAlert>
      {trans.__(
        'The file of this assistant is not there any more. What you typed is kept: "Duplicate" makes a new assistant of it.'
      )}
    </FieldConflict>
  ) : (
    <FieldConflict isAlert>
      <span>
        {trans.__(
          'The file of this assistant was changed meanwhile, so nothing was saved. What you typed is kept.'
        )}
      </span>
      <Button
        icon="redo"
        onClick={() => {
          void form.readAgain();
        }}
      >
        {trans.__('Load it again')}
      </Button>
    </FieldConflict>
  );
}

interface FieldConflictProps {
  readonly isAlert: boolean;
  readonly children: React.ReactNode;
}

function FieldConflict({ isAlert, children }: FieldConflictProps) {
  return (
    <div className="cw-page-note cw-form-conflict" role={isAlert ? 'alert' : 'status'}>
      <Icon name="warning" />
      <div>{children}</div>
    </div>
  );
}
