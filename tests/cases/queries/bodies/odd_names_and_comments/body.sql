SELECT /* a /* nested */ ; comment */ `id` AS `größe 😀`, carrier AS `a``b` FROM FLIGHTS -- the end ;
