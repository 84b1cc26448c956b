-- Whoever adds calls counts their bytes for all of them at once, in the same transaction: the trigger took as
-- long for each as the call itself. The one for deletions stays.
DROP TRIGGER calls_grow;
